import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionFacts } from "./length.ts";
import { billedMs, billedSeconds, lengthCorrectionMs } from "./length.ts";
import { priceOf, toExactUsd, toInvoiceUsd } from "./price.ts";
import type { ClosingSession } from "./usage.ts";
import { usageId, usageRowsFor } from "./usage.ts";

const january = Date.parse("2026-01-31T23:59:30.500Z");

const facts: SessionFacts = {
  boundAt: Date.parse("2026-11-15T12:00:00Z"),
  startMs: 0,
  elapsedMs: null,
  lastProofOfLifeAt: null,
  observed: { atLeastMs: null, atMostMs: null },
  stopRequestedAt: null,
  maxDurationMs: 7_200_000,
};

const session: ClosingSession = {
  ...facts,
  id: "session",
  organizationId: "organization",
  agentId: "agent",
  filter: "tel",
  filterState: "ran",
};

for (const row of [
  { seconds: 0, minutes: 0, usd: "0.0000", invoice: "0.00" },
  { seconds: 600_000, minutes: 10_000, usd: "0.0000", invoice: "0.00" },
  { seconds: 600_001, minutes: 10_001, usd: "0.0015", invoice: "0.00" },
  { seconds: 600_060, minutes: 10_001, usd: "0.0015", invoice: "0.00" },
  { seconds: 600_061, minutes: 10_002, usd: "0.0030", invoice: "0.00" },
  { seconds: 600_240, minutes: 10_004, usd: "0.0060", invoice: "0.01" },
  { seconds: 900_000, minutes: 15_000, usd: "7.5000", invoice: "7.50" },
]) {
  test(`${row.seconds} seconds of a month cost ${row.usd} USD`, () => {
    const price = priceOf(row.seconds);
    assert.equal(price.minutes, row.minutes);
    assert.equal(toExactUsd(price.microDollars), row.usd);
    assert.equal(toInvoiceUsd(price.cents), row.invoice);
  });
}

test("half a cent is rounded up, once, on the total", () => {
  // 10 minutes are 1.5 cents.
  assert.equal(priceOf(600_600).cents, 2);
  assert.equal(priceOf(600_180).cents, 0); // 0.45
});

test("three sessions of 20.9 s are 60 s and one minute", () => {
  const each = billedSeconds({ ...facts, elapsedMs: 20_900 });
  assert.equal(each * 3, 60);
  assert.equal(priceOf(each * 3).minutes, 1);
});

test("59.999 s are 59 s", () => assert.equal(billedSeconds({ ...facts, elapsedMs: 59_999 }), 59));

test("the start counts as well", () => {
  assert.equal(billedMs({ ...facts, startMs: 250.5, elapsedMs: 1_000 }), 1_250.5);
});

for (const row of [
  {
    name: "31 January 23:59:30.500",
    from: january,
    elapsedMs: 61_700,
    expect: { "2026-01": 29, "2026-02": 32 },
  },
  {
    name: "New Year",
    from: Date.parse("2026-12-31T23:59:59Z"),
    elapsedMs: 3_000,
    expect: { "2026-12": 1, "2027-01": 2 },
  },
  {
    name: "end of February, common year",
    from: Date.parse("2026-02-28T23:59:50Z"),
    elapsedMs: 30_000,
    expect: { "2026-02": 10, "2026-03": 20 },
  },
  {
    name: "28 February, leap year",
    from: Date.parse("2028-02-28T23:59:50Z"),
    elapsedMs: 30_000,
    expect: { "2028-02": 30 },
  },
  {
    name: "end of February, leap year",
    from: Date.parse("2028-02-29T23:59:50Z"),
    elapsedMs: 30_000,
    expect: { "2028-02": 10, "2028-03": 20 },
  },
  {
    name: "less than a second before the boundary",
    from: Date.parse("2026-03-31T23:59:59.400Z"),
    elapsedMs: 5_000,
    expect: { "2026-04": 5 },
  },
  {
    name: "a fraction of a second over the boundary",
    from: Date.parse("2026-03-31T23:59:50Z"),
    elapsedMs: 10_900,
    expect: { "2026-03": 10 },
  },
]) {
  test(`split at UTC midnight: ${row.name}`, () => {
    const rows = usageRowsFor({ ...session, boundAt: row.from, elapsedMs: row.elapsedMs });
    assert.deepEqual(Object.fromEntries(rows.map((each) => [each.period, each.seconds])), row.expect);
  });
}

test("a filter switched on mid-call bills nothing", () => {
  assert.deepEqual(usageRowsFor({ ...session, filter: null, elapsedMs: 60_000 }), []);
});

for (const [filterState, seconds] of [
  ["ran", 60],
  ["not-attached", 60],
  ["unavailable", undefined],
  ["failed", undefined],
  [null, 60],
] as const)
  test(`a filter that is ${filterState ?? "unknown"} bills ${seconds ?? "nothing"}`, () => {
    const [row] = usageRowsFor({ ...session, filterState, elapsedMs: 60_000 });
    assert.equal(row?.seconds, seconds);
  });

test("a bot that ignores cancellation for 10 s bills its cap of 60 s", () => {
  const [row] = usageRowsFor({ ...session, maxDurationMs: 60_000, startMs: 100, elapsedMs: 69_900 });
  assert.equal(row?.seconds, 60);
});

test("a start that failed after 9 s bills nothing", () => {
  const failed = { ...session, startMs: null, lastProofOfLifeAt: (session.boundAt ?? 0) + 9_000 };
  assert.deepEqual(usageRowsFor(failed), []);
  assert.equal(billedMs(failed), 0);
});

test("a session that never had an instance bills nothing", () => {
  assert.deepEqual(usageRowsFor({ ...session, boundAt: null }), []);
  assert.equal(billedMs({ ...facts, boundAt: null }), 0);
});

test("a lost host bills up to its last heartbeat", () => {
  const boundAt = session.boundAt ?? 0;
  const lost = { ...session, startMs: 200, lastProofOfLifeAt: boundAt + 35_000 };
  assert.equal(usageRowsFor(lost)[0]?.seconds, 35);
  // The heartbeat told how long the bot had run: that counts, whatever the wall clock says.
  assert.equal(usageRowsFor({ ...lost, elapsedMs: 34_900 })[0]?.seconds, 35);
});

test("a host lost before its first heartbeat bills its start", () => {
  assert.equal(billedMs({ ...facts, startMs: 2_000 }), 2_000);
  assert.equal(billedMs({ ...facts, startMs: 2_000, lastProofOfLifeAt: (facts.boundAt ?? 0) - 1 }), 2_000);
});

test("a stop bills at most 5 s more, and nothing below zero", () => {
  const boundAt = facts.boundAt ?? 0;
  assert.equal(billedMs({ ...facts, elapsedMs: 30_000, stopRequestedAt: boundAt + 10_000 }), 15_000);
  assert.equal(billedMs({ ...facts, elapsedMs: 11_000, stopRequestedAt: boundAt + 10_000 }), 11_000);
  assert.equal(billedMs({ ...facts, elapsedMs: 11_000, stopRequestedAt: boundAt - 60_000 }), 0);
});

test("a usage row has one name wherever it is sent", () => {
  const [row] = usageRowsFor({ ...session, elapsedMs: 1_000 });
  assert.ok(row);
  assert.deepEqual(row, {
    sessionId: "session",
    period: "2026-11",
    organizationId: "organization",
    agentId: "agent",
    seconds: 1,
  });
  assert.equal(usageId(row), "usage:session:2026-11");
});

test("what a bot tells is bounded by what was seen", () => {
  const told = (elapsedMs: number, atLeastMs: number | null, atMostMs: number | null) => {
    const facts = { ...session, startMs: 1_000, elapsedMs, observed: { atLeastMs, atMostMs } };
    return [billedSeconds(facts), lengthCorrectionMs(facts)];
  };
  assert.deepEqual(told(20_000, 20_500, 21_100), [21, null], "an honest one is believed");
  assert.deepEqual(told(19_000, 22_900, 23_000), [20, null], "also when its process lingered");
  assert.deepEqual(told(0, 20_500, 21_000), [17, 16_500], "a clock that stands still");
  assert.deepEqual(
    told(9_000_000, 20_500, 21_000),
    [21, -7_179_000],
    "a clock that runs fast, beyond the cap",
  );
  const late = {
    ...session,
    startMs: 9_000,
    elapsedMs: 10_500,
    observed: { atLeastMs: 12_200, atMostMs: 12_600 },
  };
  assert.equal(billedSeconds(late), 12, "time counted twice is not billed");
  assert.equal(lengthCorrectionMs(late), null, "and no lie of a bot whose acknowledgement came late");
  assert.deepEqual(told(0, null, null), [1, null], "nobody saw it");
  const observed = { atLeastMs: 20_000, atMostMs: 21_000 };
  for (const silent of [{ boundAt: null }, { startMs: null }, { elapsedMs: null }])
    assert.equal(
      lengthCorrectionMs({ ...session, elapsedMs: 0, observed, ...silent }),
      null,
      "it told nothing",
    );
});
