import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { billedMs, billedSeconds } from "./length.ts";
import {
  isPeriod,
  mayClose,
  periodBefore,
  periodEndMs,
  periodOf,
  periodStartMs,
  splitAtPeriods,
} from "./periods.ts";
import { FREE_MINUTES, MICRO_DOLLARS_PER_MINUTE, priceOf, toCents, toExactUsd } from "./price.ts";
import { isFilterBilled, usageRowsFor } from "./usage.ts";

const moment = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2100, 0) });
const some = (max: number) => fc.option(fc.integer({ min: 0, max }));

const session = fc
  .record({
    boundAt: moment,
    startMs: some(60_000),
    elapsedMs: some(20_000_000),
    aliveMs: some(20_000_000),
    stopMs: fc.option(fc.integer({ min: -100_000, max: 20_000_000 })),
    maxDurationMs: fc.integer({ min: 60_000, max: 14_400_000 }),
    filter: fc.constantFrom("tel" as const, "pro" as const, null),
    filterState: fc.constantFrom("ran", "not-attached", "unavailable", "failed", null),
  })
  .map(({ aliveMs, stopMs, ...rest }) => ({
    ...rest,
    lastProofOfLifeAt: aliveMs === null ? null : rest.boundAt + aliveMs,
    observed: { atLeastMs: null, atMostMs: null },
    stopRequestedAt: stopMs === null ? null : rest.boundAt + stopMs,
    id: "session",
    organizationId: "organization",
    agentId: "agent",
  }));

test("a length is never negative, never above the cap, never above the bot's own life", () => {
  fc.assert(
    fc.property(session, (facts) => {
      const billed = billedMs(facts);
      assert.ok(billed >= 0 && billed <= facts.maxDurationMs);
      if (facts.startMs === null) assert.equal(billed, 0);
      else if (facts.elapsedMs !== null) assert.ok(billed <= facts.startMs + facts.elapsedMs);
    }),
  );
});

test("with an exit record and neither stop nor cap, the length is the truth within a second", () => {
  fc.assert(
    fc.property(
      fc.float({ min: 0, max: 50_000, noNaN: true }),
      fc.integer({ max: 5_000, min: 0 }),
      (elapsedMs, startMs) => {
        const facts = {
          boundAt: 0,
          startMs,
          elapsedMs,
          lastProofOfLifeAt: null,
          observed: { atLeastMs: null, atMostMs: null },
          stopRequestedAt: null,
          maxDurationMs: 60_000,
        };
        const early = startMs + elapsedMs - billedSeconds(facts) * 1_000;
        assert.ok(early >= 0 && early < 1_000);
      },
    ),
  );
});

test("rows sum to the session, are whole, positive, of successive months, and only of filtered ones", () => {
  fc.assert(
    fc.property(session, (facts) => {
      const rows = usageRowsFor(facts);
      const sum = rows.reduce((total, row) => total + row.seconds, 0);
      assert.equal(sum, isFilterBilled(facts) ? billedSeconds(facts) : 0);
      assert.ok(rows.every((row) => Number.isInteger(row.seconds) && row.seconds > 0));
      assert.ok(
        rows.every((row, index) => index === 0 || periodBefore(row.period) === rows[index - 1]?.period),
      );
    }),
  );
});

test("no second is in a month that had not begun or was over", () => {
  fc.assert(
    fc.property(moment, fc.integer({ min: 0, max: 10_000_000 }), (fromMs, seconds) => {
      let before = 0;
      for (const piece of splitAtPeriods({ fromMs, seconds })) {
        const after = before + piece.seconds;
        // The second that crosses the boundary goes to the later month.
        assert.ok(fromMs + before * 1_000 > periodStartMs(piece.period) - 1_000);
        assert.ok(fromMs + after * 1_000 <= periodEndMs(piece.period));
        before = after;
      }
      assert.equal(before, seconds);
    }),
  );
});

test("months tile the calendar", () => {
  fc.assert(
    fc.property(moment, (atMs) => {
      const period = periodOf(atMs);
      assert.ok(isPeriod(period));
      assert.ok(periodStartMs(period) <= atMs && atMs < periodEndMs(period));
      assert.equal(periodBefore(periodOf(periodEndMs(period))), period);
    }),
  );
  for (const text of ["2026-13", "2026-00", "2026-1", "26-01", "2026-01-01", ""])
    assert.equal(isPeriod(text), false);
});

test("a month may be closed from 06:00 UTC on the first", () => {
  assert.equal(mayClose("2026-01", Date.parse("2026-02-01T05:59:59.999Z")), false);
  assert.equal(mayClose("2026-01", Date.parse("2026-02-01T06:00:00.000Z")), true);
});

test("prices are whole, grow with use, and are nothing up to the free minutes", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), fc.integer({ min: 0, max: 1e6 }), (seconds, more) => {
      const price = priceOf(seconds);
      assert.ok(Number.isInteger(price.microDollars));
      assert.equal(price.microDollars === 0, price.minutes <= FREE_MINUTES);
      assert.ok(priceOf(seconds + more).microDollars >= price.microDollars);
      assert.equal(price.microDollars, price.billableMinutes * MICRO_DOLLARS_PER_MINUTE);
      assert.equal(Math.round(Number(toExactUsd(price.microDollars)) * 1e6), price.microDollars);
      assert.ok(Math.abs(toCents(price.microDollars) * 10_000 - price.microDollars) <= 5_000);
    }),
  );
});
