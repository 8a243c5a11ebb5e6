import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { UserTurn } from "./listen.ts";
import {
  INITIAL_TURN_TAKING,
  judgeBargeIn,
  nextTurnTaking,
  type BargeIn,
  type BargeInSpeech,
  type InterruptionOptions,
  type TurnEvent,
} from "./turn-taking.ts";

describe("judgeBargeIn", () => {
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
});

describe("nextTurnTaking", () => {
  const turn = (text: string): UserTurn => ({
    text,
    speechMs: 400,
    speechEndedAtMs: 0,
    understoodAtMs: 0,
    decidedAtMs: 0,
  });
  const began: TurnEvent = { type: "bot-began", as: "interruptible" };
  const started: TurnEvent = { type: "user-started", remainingMs: 5_000 };
  const stopped: TurnEvent = { type: "user-stopped" };
  const understood = (text: string, isPause = false): TurnEvent => ({
    type: "user-understood",
    speech: { text, speechMs: 400, isPause },
  });
  const complete = (text: string): TurnEvent => ({ type: "turn-complete", turn: turn(text) });

  const table: [string, TurnEvent[], string[]][] = [
    [
      "a silent bot answers",
      [started, understood("hi"), stopped, complete("hi")],
      ["show-partial", "answer"],
    ],
    ["words interrupt", [began, started, understood("wait")], ["pause", "show-partial", "interrupt"]],
    [
      "a back-channel does not interrupt, and gets no answer",
      [began, started, understood("yeah", true), stopped, complete("yeah")],
      ["pause", "show-partial", "resume", "report-false-interruption"],
    ],
    [
      "the answer to an interruption waits for the end of what it interrupted",
      [
        began,
        started,
        understood("wait"),
        stopped,
        complete("wait"),
        { type: "bot-finished" },
        { type: "queue-due" },
      ],
      ["pause", "show-partial", "interrupt", "answer"],
    ],
    [
      "speech over the last words is a reply",
      [began, { type: "user-started", remainingMs: 500 }, understood("yes"), stopped, complete("yes")],
      ["show-partial"],
    ],
    [
      "speech that began before the bot did can interrupt it",
      [started, began, understood("wait")],
      ["pause", "show-partial", "interrupt"],
    ],
    [
      "nothing interrupts an uninterruptible bot",
      [{ type: "bot-began", as: "uninterruptible" }, started, understood("wait")],
      ["show-partial"],
    ],
    [
      "playback resumes when the bot finishes during a pause",
      [began, started, { type: "bot-finished" }],
      ["pause", "resume"],
    ],
    [
      "an interruption from outside is done once",
      [began, { type: "bot-interrupted" }, { type: "bot-interrupted" }],
      ["interrupt"],
    ],
  ];

  for (const [name, events, expected] of table)
    test(name, () => {
      let state = INITIAL_TURN_TAKING;
      const seen: string[] = [];
      for (const event of events) {
        const [next, effects] = nextTurnTaking(state, event, {});
        state = next;
        seen.push(...effects.map(({ type }) => type));
      }
      assert.deepEqual(seen, expected);
    });

  test("turns that wait are joined", () => {
    let state = INITIAL_TURN_TAKING;
    const answers: string[] = [];
    const uninterruptible: TurnEvent = { type: "bot-began", as: "uninterruptible" };
    const events = [uninterruptible, complete("my name is"), complete("Ada Lovelace")];
    for (const event of [...events, { type: "bot-finished" } as const, { type: "queue-due" } as const]) {
      const [next, effects] = nextTurnTaking(state, event, false);
      state = next;
      for (const effect of effects) if (effect.type === "answer") answers.push(effect.turn.text);
    }
    assert.deepEqual(answers, ["my name is Ada Lovelace"]);
  });
});
