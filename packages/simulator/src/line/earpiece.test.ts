import assert from "node:assert/strict";
import { test } from "node:test";
import type { CarrierChoice } from "../carriers/create-carrier.ts";
import { dial, loud, wording } from "../testing/dial.ts";

const CHOICES: CarrierChoice[] = [
  { name: "twilio" },
  { name: "telnyx" },
  { name: "plivo" },
  { name: "exotel" },
];

test("what the bot sends is heard in real time, gaps as silence", async () => {
  const { call, clock, socket } = dial();
  socket.open();
  clock.runFor(100);
  socket.say(loud(500));
  clock.runFor(1000);
  socket.say(loud(200));
  clock.runFor(1000);
  call.hangUp();
  socket.end(1000);
  const { heard, said, summary } = await call.ended;
  assert.equal(heard.samples.length, 2100 * 8);
  assert.equal(said.samples.length, 2100 * 8);
  const isLoud = (ms: number): boolean => heard.samples[ms * 8] !== 0;
  assert.deepEqual([119, 121, 619, 621, 1119, 1121, 1319, 1321].map(isLoud), [
    false,
    true,
    true,
    false,
    false,
    true,
    true,
    false,
  ]);
  assert.equal(summary.heard.seconds, 0.7);
  assert.equal(summary.heard.audibleSeconds, 0.7);
  assert.equal(summary.heard.silenceRatio, 0.667);
  assert.equal(summary.firstMediaMs, 100);
  assert.equal(summary.firstAudioMs, 120);
});

test("marks come back when their sound has been played", () => {
  for (const choice of CHOICES) {
    const { clock, socket } = dial({}, choice);
    const { say, mark, answer } = wording(choice.name);
    socket.open();
    clock.runFor(95);
    socket.say(mark("nothing before it"));
    assert.equal(socket.events(answer).length, 1);
    socket.say(say(400));
    socket.say(mark("a"));
    socket.say(say(200));
    socket.say(mark("b"));
    clock.runFor(419);
    assert.equal(socket.events(answer).length, 1);
    clock.runFor(2);
    assert.equal(socket.events(answer).length, 2);
    assert.ok(JSON.stringify(socket.events(answer)[1]).includes('"name":"a"'));
    clock.runFor(200);
    assert.equal(socket.events(answer).length, 3);
  }
});

test("clear stops at once; marks come back or are forgotten as the carrier has it", async () => {
  for (const choice of CHOICES) {
    const { call, clock, socket } = dial({}, choice);
    const { say, mark, clear, answer } = wording(choice.name);
    socket.open();
    socket.say(say(1000));
    socket.say(mark("a"));
    clock.runFor(300);
    socket.say(clear);
    const isPlivo = choice.name === "plivo";
    assert.equal(socket.events(answer).length, isPlivo ? 0 : 1);
    assert.equal(socket.events("clearedAudio").length, isPlivo ? 1 : 0);
    clock.runFor(2000);
    call.hangUp();
    socket.end(1000);
    const { summary, heard } = await call.ended;
    assert.deepEqual(summary.clears, { count: 1, droppedMs: 720 });
    assert.deepEqual(summary.marks, {
      received: 1,
      reached: 0,
      returnedByClear: isPlivo ? 0 : 1,
      unanswered: isPlivo ? 1 : 0,
    });
    assert.ok(heard.samples.subarray(300 * 8).every((sample) => sample === 0));
    assert.equal(summary.heard.seconds, 0.28);
  }
});

test("violations are counted, and Telnyx says so", async () => {
  const { call, clock, socket } = dial({}, { name: "telnyx" });
  socket.open();
  for (const message of ["{", "{", { event: "rtvi" }]) socket.say(message);
  socket.sayBytes(Uint8Array.of(1));
  clock.runFor(10);
  call.hangUp();
  socket.end(1000);
  const { summary } = await call.ended;
  assert.deepEqual(
    summary.violations.map(({ code, count }) => [code, count]),
    [
      ["malformed-message", 2],
      ["unknown-event", 1],
      ["binary-message", 1],
    ],
  );
  assert.equal(socket.events("error").length, 4);
  assert.equal(summary.traffic.messagesIn, 4);
});

test("the bot can press keys at Plivo, and the caller hears them", async () => {
  const { call, clock, socket } = dial({}, { name: "plivo" });
  socket.open();
  socket.say({ event: "sendDTMF", dtmf: "12" });
  clock.runFor(1000);
  call.hangUp();
  socket.end(1000);
  assert.equal((await call.ended).summary.heard.audibleSeconds, 0.2);
});
