import assert from "node:assert/strict";
import { test } from "node:test";
import { answers, summarizeCall, type CallFacts } from "./call-summary.ts";
import { countChunk, countViolation, createTally } from "./call-tally.ts";

const talk = (startMs: number, endMs: number) => ({ startMs, endMs });

test("an answer is the bot's first sound after an utterance and before the next", () => {
  const table: [string, [number, number][], [number, number][], number[]][] = [
    ["one", [[1000, 2000]], [[2600, 3000]], [600]],
    ["none", [[1000, 2000]], [], []],
    ["a greeting is no answer", [[1000, 2000]], [[100, 900]], []],
    ["talking over the caller is no answer", [[1000, 2000]], [[1500, 3000]], []],
    [
      "only the first counts",
      [[1000, 2000]],
      [
        [2100, 2200],
        [2800, 2900],
      ],
      [100],
    ],
    [
      "each its own",
      [
        [0, 100],
        [1000, 2000],
      ],
      [
        [300, 400],
        [2050, 2100],
      ],
      [200, 50],
    ],
    [
      "one was not answered",
      [
        [0, 100],
        [200, 300],
      ],
      [[400, 500]],
      [100],
    ],
  ];
  for (const [name, caller, bot, expected] of table)
    assert.deepEqual(
      answers(
        caller.map((side) => talk(...side)),
        bot.map((side) => talk(...side)),
      ),
      expected,
      name,
    );
});

test("an interruption is timed from cutting in to the clear", () => {
  const tally = { ...createTally(), connectMs: 10, clearsMs: [500, 3300] };
  const { interruptionsMs } = summarizeCall({
    ...facts(),
    tally,
    bot: { utterances: [talk(2000, 3320)], loudMs: 1320 },
    caller: { utterances: [talk(400, 1000), talk(3000, 4000)], loudMs: 1600 },
  });
  assert.deepEqual(interruptionsMs, [300]);
});

test("the bot is cut off in vain when the caller had said nothing just before", () => {
  const tally = { ...createTally(), clearsMs: [100, 900, 2_400, 3_000, 5_000, 9_000, 12_000] };
  const bot = {
    utterances: [talk(800, 910), talk(2_000, 3_000), talk(4_000, 5_010), talk(8_000, 8_800)],
    loudMs: 1,
  };
  const caller = { utterances: [talk(500, 900), talk(4_800, 5_200)], loudMs: 900 };
  // At 2400 it is the caller's doing, at 12000 the bot was silent.
  assert.equal(summarizeCall({ ...facts(), tally, bot, caller }).falseInterruptions, 2);
});

test("pacing: what is early, what is late, what is a pause", () => {
  const tally = createTally();
  const chunks = [
    { lengthMs: 40, gapMs: 0, leadMs: 60 },
    { lengthMs: 40, gapMs: 0, leadMs: 290 },
    { lengthMs: 40, gapMs: 0, leadMs: 291 },
    { lengthMs: 40, gapMs: 35, leadMs: 60 },
    { lengthMs: 40, gapMs: 5000, leadMs: 60 },
  ];
  for (const chunk of chunks) countChunk(tally, chunk);
  const { pacing } = summarizeCall({ ...facts(), tally });
  assert.deepEqual(pacing, {
    chunks: 5,
    largestLeadMs: 291,
    earlyChunks: 1,
    lateChunks: 1,
    largestGapMs: 35,
    ownLagMs: 0,
  });
});

test("violations of one kind are one line, and there are never too many lines", () => {
  const tally = createTally();
  countViolation(tally, { code: "bad-size", detail: "a" }, 5);
  countViolation(tally, { code: "bad-size", detail: "a" }, 9);
  for (let at = 0; at < 200; at++) countViolation(tally, { code: "unknown-event", detail: `${at}` }, at);
  assert.deepEqual(tally.violations[0], { code: "bad-size", detail: "a", count: 2, firstMs: 5 });
  assert.equal(tally.violations.length, 50);
  assert.equal(
    tally.violations.reduce((sum, { count }) => sum + count, 0),
    202,
  );
});

test("a call nobody answered has a summary too", () => {
  const summary = summarizeCall(facts());
  assert.equal(summary.firstAudioMs, undefined);
  assert.equal(summary.connectMs, undefined);
  assert.equal(summary.heard.silenceRatio, 1);
});

function facts(): CallFacts {
  return {
    carrier: "twilio",
    outcome: { type: "not-connected", reason: "timed-out", cause: undefined },
    tally: createTally(),
    durationMs: 0,
    bot: { utterances: [], loudMs: 0 },
    caller: { utterances: [], loudMs: 0 },
  };
}
