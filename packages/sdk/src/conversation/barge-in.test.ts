import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeBargeIn, type BargeIn, type BargeInSpeech, type InterruptionOptions } from "./barge-in.ts";

const table: [Partial<BargeInSpeech>, InterruptionOptions, BargeIn][] = [
  [{ text: "wait" }, {}, "interrupts"],
  [{ text: "wait", speechMs: 150 }, {}, "not-yet-known"],
  [{ text: "wait", speechMs: 150, isPause: true }, {}, "goes-on"],
  [{ text: "yeah" }, {}, "not-yet-known"],
  [{ text: "yeah", isPause: true }, {}, "goes-on"],
  [{ text: "yeah okay mm-hmm", speechMs: 2_000 }, {}, "not-yet-known"],
  [{ text: "yeah but" }, {}, "interrupts"],
  [{ text: "" }, {}, "not-yet-known"],
  [{ text: "", isPause: true }, {}, "goes-on"],
  [{ text: "", speechMs: 1_000 }, {}, "interrupts"],
  [{ text: "", speechMs: 1_000 }, { certainMs: 2_000 }, "not-yet-known"],
  [{ text: "no stop" }, { minWords: 3 }, "not-yet-known"],
  [{ text: "no stop it" }, { minWords: 3 }, "interrupts"],
  [{ text: "" }, { minWords: 0 }, "interrupts"],
  [{ text: "roger" }, { backChannels: ["roger"] }, "not-yet-known"],
];

for (const [speech, options, expected] of table)
  test(`${JSON.stringify(speech)} ${expected} with ${JSON.stringify(options)}`, () => {
    assert.equal(judgeBargeIn({ text: "", speechMs: 400, isPause: false, ...speech }, options), expected);
  });
