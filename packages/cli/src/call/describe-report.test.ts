import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallOutcome, CallSummary } from "@vocalhost/simulator";
import type { Ui } from "../ui.ts";
import { checkReport } from "./run-call.ts";
import { describeReport } from "./describe-report.ts";

const plain = { style: (_style, text) => text } as Pick<Ui, "style"> as Ui;
const hungUp: CallOutcome = { type: "hung-up", by: "caller", reason: "silence" };

test("a call with everything in it", () => {
  const text = describeReport({ outcome: hungUp, summary: summary() }, plain);
  assert.equal(
    text,
    `
A call of 12.3 s over Telnyx. The caller hung up after silence.

  connected     after 12 ms
  first sound   1.42 s after dialling
  answers       640 ms, 655 ms after the caller stopped
  interrupted   the bot stopped after 310 ms
  false alarms  the bot stopped 2 times though the caller was silent
  heard         4.1 s, 3.8 s of it audible; silence 69% of the call; 0.12 s cut off at the end
  said          3.4 s, 3 chunks lost on the way
  keys          12#
  marks         5 received, 3 reached, 1 returned by a clear, 1 never reached
  clears        1, 1.20 s never heard
  pacing        up to 320 ms ahead (4 of 80 chunks over 250 ms), 1 gap, at most 35 ms; this machine itself was up to 60 ms late
  messages      612 out (220 KB), 85 in (31 KB)

Telnyx's protocol was broken:
  41 × bad-size: too short (first after 1.21 s)`,
  );
});

test("a call with nothing in it", () => {
  const text = describeReport(
    { outcome: { type: "hung-up", by: "bot", code: 1000 }, summary: quiet() },
    plain,
  );
  assert.match(text, /The bot hung up\./);
  assert.match(text, /first sound +never/);
  assert.match(text, /pacing +no audio arrived/);
  assert.match(text, /protocol was followed\./);
  assert.doesNotMatch(text, /keys|marks|clears|answers|interrupted/);
});

test("what makes a call fail", () => {
  const dropped: CallOutcome = { type: "dropped", code: 1011, reason: "" };
  const table: [CallOutcome, CallSummary, object, string | undefined][] = [
    [hungUp, summary(), {}, undefined],
    [hungUp, summary(), { expectAudio: true }, undefined],
    [hungUp, quiet(), {}, undefined],
    [hungUp, quiet(), { expectAudio: true }, "no_audio"],
    [hungUp, summary(), { strict: true }, "protocol_violated"],
    [hungUp, quiet(), { strict: true }, undefined],
    [dropped, summary(), {}, "dropped"],
  ];
  for (const [outcome, figures, expected, code] of table)
    assert.equal(
      checkReport({ outcome, summary: figures }, { expectAudio: false, strict: false, ...expected })?.code,
      code,
    );
});

function summary(): CallSummary {
  return {
    carrier: "telnyx",
    outcome: hungUp,
    connectMs: 12,
    durationMs: 12_345,
    firstMediaMs: 1400,
    firstAudioMs: 1420,
    answersMs: [640, 655],
    interruptionsMs: [310],
    falseInterruptions: 2,
    heard: { seconds: 4.1, audibleSeconds: 3.8, silenceRatio: 0.692, cutOffMs: 120 },
    said: { audibleSeconds: 3.4, chunks: 600, lostChunks: 3 },
    marks: { received: 5, reached: 3, returnedByClear: 1, unanswered: 1 },
    clears: { count: 1, droppedMs: 1200 },
    digits: "12#",
    traffic: { messagesIn: 85, messagesOut: 612, bytesIn: 31_000, bytesOut: 225_000 },
    pacing: {
      chunks: 80,
      largestLeadMs: 320,
      earlyChunks: 4,
      lateChunks: 1,
      largestGapMs: 35,
      ownLagMs: 60,
    },
    violations: [{ code: "bad-size", detail: "too short", count: 41, firstMs: 1210 }],
  };
}

function quiet(): CallSummary {
  return {
    ...summary(),
    firstMediaMs: undefined,
    firstAudioMs: undefined,
    answersMs: [],
    interruptionsMs: [],
    falseInterruptions: 0,
    heard: { seconds: 0, audibleSeconds: 0, silenceRatio: 1, cutOffMs: 0 },
    marks: { received: 0, reached: 0, returnedByClear: 0, unanswered: 0 },
    clears: { count: 0, droppedMs: 0 },
    digits: "",
    pacing: { chunks: 0, largestLeadMs: 0, earlyChunks: 0, lateChunks: 0, largestGapMs: 0, ownLagMs: 0 },
    violations: [],
  };
}
