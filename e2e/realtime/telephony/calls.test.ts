// Simulated telephones call bots in processes of their own.
import assert from "node:assert/strict";
import { carrierNames } from "@vocalhost/protocol";
import { createSpeechLike, type CallSummary, type CarrierChoice } from "@vocalhost/simulator";
import { after, describe, test } from "node:test";
import { until } from "../../../testing/wait.ts";
import { openCarrierSocket } from "../../telephony/carrier-socket.ts";
import { openingOf } from "../../telephony/openings.ts";
import type { Mode } from "../../telephony/phone-bot.ts";
import { startPhoneRunner } from "../../telephony/phone-runner.ts";
import { atRate, isQuiet, joined, shareHeard, toneShare } from "../../telephony/sound.ts";
import { dial, FROM, TO, type Call, type DialOptions } from "../../telephony/telephone.ts";

const SPEECH = createSpeechLike();
const LONG_SPEECH = joined(SPEECH, SPEECH, SPEECH);
const CALLS_AT_ONCE = 5; // they take their time, not the machine's
const CHOICES: CarrierChoice[] = [
  { name: "twilio" },
  { name: "telnyx" },
  { name: "telnyx", uplink: { codec: "PCMA", sampleRateHz: 8_000 } },
  {
    name: "telnyx",
    uplink: { codec: "L16", sampleRateHz: 16_000 },
    downlink: { codec: "L16", sampleRateHz: 16_000 },
  },
  { name: "plivo" },
  { name: "plivo", format: { contentType: "audio/x-l16", sampleRateHz: 16_000 } },
  { name: "exotel" },
  { name: "exotel", sampleRateHz: 24_000 },
];

describe("the parrot on the telephone", { concurrency: CALLS_AT_ONCE }, async () => {
  const runner = await startPhoneRunner({ bot: "examples/parrot/bot.ts" });
  after(() => runner[Symbol.asyncDispose]());

  for (const choice of CHOICES)
    test(`${titleOf(choice)}: the caller hears what it said`, async (context) => {
      const call = dial({
        carrier: choice,
        url: runner.socketUrl(pathOf(choice)),
        sentences: [SPEECH],
        hangUpAfterAnswerMs: 1_000,
      });
      const { outcome, summary, heard } = await call.ended();
      assert.deepEqual(outcome, { type: "hung-up", by: "caller", reason: "asked" });
      assert.deepEqual(summary.violations, []);
      assert.ok(
        shareHeard(atRate(SPEECH, heard.sampleRateHz), heard) >= 0.6,
        "what was heard is not what was said",
      );
      assert.equal(summary.marks.unanswered, 0);
      assert.ok(
        summary.firstAudioMs !== undefined && summary.answersMs.length === 1,
        JSON.stringify(summary),
      );
      assert.ok(summary.answersMs[0]! < 5_000, `answered after ${summary.answersMs[0]} ms`);
      context.diagnostic(figures(summary));
    });

  for (const name of carrierNames)
    test(`${name}: who cuts in is not talked over`, async (context) => {
      const call = dial({
        carrier: { name },
        url: runner.socketUrl(),
        sentences: [LONG_SPEECH, SPEECH],
        interruptAfterMs: 1_000,
        hangUpAfterAnswerMs: 500,
      });
      const { summary, heard } = await call.ended();
      const cutIn = call.events.filter(({ type }) => type === "caller-speech-start").at(-1)!;
      const cleared = call.events.find((event) => event.type === "audio-cleared" && event.atMs > cutIn.atMs);
      assert.ok(cleared, "the bot did not clear the line");
      const clearedMs = cleared.atMs - (summary.connectMs ?? 0);
      assert.equal(isQuiet(heard, clearedMs - 600, clearedMs), false, "the bot was talking");
      assert.ok(isQuiet(heard, clearedMs + 200, clearedMs + 800), "the bot talked on");
      context.diagnostic(
        `cleared ${Math.round(cleared.atMs - cutIn.atMs)} ms after the caller cut in; ${figures(summary)}`,
      );
    });
});

describe("a bot that remembers its calls", { concurrency: CALLS_AT_ONCE }, async () => {
  const runner = await startPhoneRunner();
  after(async () => {
    await until(async () => (await runner.figures()).sessions === 0, 10_000, "end of every session");
    await runner[Symbol.asyncDispose]();
    assert.doesNotMatch(runner.output(), /ERROR|bot failed|outside of any session/i);
  });
  const dialled = (carrier: CarrierChoice, mode: Mode, rest: Partial<DialOptions> = {}): Call =>
    dial({
      carrier,
      url: runner.socketUrl(),
      parameters: { mode, from_number: FROM, to_number: TO, order: "42" },
      ...rest,
    });

  for (const name of carrierNames) {
    test(`${name}: numbers and parameters reach the bot`, async () => {
      const call = dialled({ name }, "silent");
      const { callId, streamId } = call.details.ids;
      const { callData, transportType } = await runner.record(callId);
      call.hangUp();
      await call.ended();
      assert.equal(transportType, name);
      assert.equal(callData?.streamId, streamId);
      const passedOn = name === "twilio" || name === "plivo" ? callData?.body : callData?.customParameters;
      assert.equal(passedOn?.["order"], "42");
      const numbers = name === "plivo" ? [null, null] : [FROM, TO]; // Plivo tells none, and its webhook was not asked
      assert.deepEqual([callData?.from, callData?.to], numbers);
    });

    test(`${name}: keys reach the bot, which answers them`, async () => {
      const call = dialled({ name }, "keys", { hangUpAfterAnswerMs: 1_500 });
      call.press("159*0#"); // at once: the bot may not listen yet
      const { heard, summary } = await call.ended();
      assert.equal(summary.digits, "159*0#");
      assert.equal((await runner.record(call.details.ids.callId)).keys, "159*0#");
      for (const key of [1, 5, 9, 0])
        assert.ok(toneShare(heard, 300 + 100 * key) > 0.5, `the tone of ${key}`);
    });

    test(`${name}: a caller who hangs up ends the session`, async () => {
      const call = dialled({ name }, "silent");
      const { callId } = call.details.ids;
      await runner.record(callId);
      call.hangUp();
      const { outcome } = await call.ended();
      assert.deepEqual(outcome, { type: "hung-up", by: "caller", reason: "asked" });
      assert.equal((await runner.record(callId, ({ ended }) => ended !== null)).ended, "client-left");
    });

    test(`${name}: a bot that has finished hangs up, and all of it was heard`, async () => {
      const call = dialled({ name }, "goodbye");
      const { outcome, summary, heard } = await call.ended();
      assert.deepEqual(outcome, { type: "hung-up", by: "bot", code: 1000 });
      assert.equal(summary.heard.cutOffMs, 0, "nothing was cut off");
      assert.ok(summary.heard.audibleSeconds >= 0.5, `${summary.heard.audibleSeconds} s`);
      assert.ok(toneShare(heard, 440) > 0.8);
      const record = await runner.record(call.details.ids.callId, ({ ended }) => ended !== null);
      assert.equal(record.ended, "bot-finished");
      assert.notEqual(record.drainedMs, null);
    });
  }

  test("a bot waits for what it said to be heard, not to be sent", async () => {
    using socket = await openCarrierSocket(runner.socketUrl());
    const [connected, start] = openingOf("twilio", "CA-drained");
    const message = JSON.parse(start!) as { start: object };
    socket.say(connected!, {
      ...message,
      start: { ...message.start, customParameters: { mode: "goodbye" } },
    });
    const last = await until(
      () => marksOf(socket.received).find((name) => name === "0:14400"),
      10_000,
      "last mark",
    );
    const { callData: before, drainedMs } = await runner.record("CA-drained");
    assert.ok(before);
    assert.equal(drainedMs, null, "everything is sent, nothing is known to be heard");
    for (const name of ["0:14399", "0:99999", "7:14400"]) socket.say({ event: "mark", mark: { name } });
    assert.equal((await runner.record("CA-drained")).drainedMs, null);
    socket.say({ event: "mark", mark: { name: last } });
    await runner.record("CA-drained", (record) => record.drainedMs !== null);
    assert.equal((await socket.closed()).code, 1000);
  });

  test("a shaky line: what overtakes on the way is put in order again", async (context) => {
    const call = dialled({ name: "telnyx" }, "echo", {
      sentences: [LONG_SPEECH],
      hangUpAfterAnswerMs: 1_000,
      line: { jitterMs: 45 },
    });
    const { summary, heard } = await call.ended();
    const chunks = call.events.flatMap((event) => (event.type === "message-sent" ? chunkOf(event.text) : []));
    const overtaken = chunks.filter((chunk, at) => chunk < (chunks[at - 1] ?? 0)).length;
    assert.ok(overtaken > 10, `${overtaken} pieces were overtaken`);
    const share = shareHeard(LONG_SPEECH, heard);
    context.diagnostic(
      `${overtaken} of ${chunks.length} pieces overtaken, ${Math.round(share * 100)} % heard; ${figures(summary)}`,
    );
    assert.ok(share >= 0.5, "an eighth would match by chance");
    assert.deepEqual(summary.violations, []);
  });

  for (const name of carrierNames)
    test(`${name}: a bad line loses only what it loses`, async () => {
      const call = dialled({ name }, "echo", {
        sentences: [LONG_SPEECH],
        hangUpAfterAnswerMs: 1_000,
        line: { jitterMs: 40, lossPercent: 5, seed: 3 },
      });
      const { summary, heard } = await call.ended();
      const record = await runner.record(call.details.ids.callId, ({ ended }) => ended !== null);
      const sentMs = summary.said.chunks * (name === "exotel" ? 100 : 20);
      assert.ok(summary.said.lostChunks > 0);
      assert.equal(record.droppedFrames, 0);
      assert.ok(
        record.heardFrames * 20 >= sentMs * 0.95, // a busy machine makes some come too late to be heard
        `the bot heard ${record.heardFrames * 20} of ${sentMs} ms`,
      );
      assert.deepEqual(summary.violations, []);
      // Ten pieces there and ten back make a segment: a third of them arrive whole, give or take a few.
      assert.ok(shareHeard(LONG_SPEECH, heard) >= 0.2);
    });
});

function titleOf(choice: CarrierChoice): string {
  switch (choice.name) {
    case "telnyx":
      return `telnyx ${choice.uplink?.codec ?? ""}`.trim();
    case "plivo":
      return `plivo ${choice.format?.contentType ?? ""}`.trim();
    case "exotel":
      return `exotel ${choice.sampleRateHz ?? ""}`.trim();
    case "twilio":
      return "twilio";
    default:
      return choice satisfies never;
  }
}

function pathOf(choice: CarrierChoice): string {
  if (choice.name === "exotel" && choice.sampleRateHz) return `/ws?sample-rate=${choice.sampleRateHz}`;
  if (choice.name !== "telnyx" || !choice.downlink) return "/ws";
  const { codec, sampleRateHz } = choice.downlink;
  return `/ws?bidirectionalCodec=${codec}&bidirectionalSamplingRate=${sampleRateHz}`;
}

function marksOf(messages: Record<string, unknown>[]): string[] {
  return messages.flatMap(({ event, mark }) => (event === "mark" ? [(mark as { name: string }).name] : []));
}

function chunkOf(text: string): number[] {
  const { event, media } = JSON.parse(text) as { event: string; media?: { chunk: string } };
  return event === "media" ? [Number(media?.chunk)] : [];
}

function figures({ connectMs, firstAudioMs, answersMs, pacing }: CallSummary): string {
  return `connected ${connectMs} ms, first audio ${firstAudioMs} ms, answers ${answersMs.join(", ")} ms, pacing ${JSON.stringify(pacing)}`;
}
