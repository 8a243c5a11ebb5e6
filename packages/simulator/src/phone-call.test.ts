import assert from "node:assert/strict";
import { test } from "node:test";
import { createConversation } from "./caller/conversation.ts";
import type { CarrierChoice } from "./carriers/create-carrier.ts";
import { dial, loud } from "./testing/dial.ts";

test("the opening comes first, then sound at the carrier's pace, then stop", async () => {
  const table: [CarrierChoice, string[], chunks: number, stop: string[]][] = [
    [{ name: "twilio" }, ["connected", "start"], 50, ["stop"]],
    [{ name: "telnyx" }, ["connected", "start"], 50, ["stop"]],
    [{ name: "plivo" }, ["start"], 50, []],
    [{ name: "exotel" }, ["connected", "start"], 10, ["stop"]],
  ];
  for (const [choice, opening, chunks, stop] of table) {
    const { call, clock, socket } = dial({}, choice);
    clock.runFor(130);
    assert.deepEqual(socket.sent, []);
    socket.open();
    assert.deepEqual(names(socket.sent), opening);
    clock.runFor(1000);
    call.hangUp();
    assert.deepEqual(names(socket.sent), [
      ...opening,
      ...Array.from({ length: chunks }, () => "media"),
      ...stop,
    ]);
    assert.equal(socket.closedWith, 1000);
    socket.end(1000);
    const { outcome, summary } = await call.ended;
    assert.deepEqual(outcome, { type: "hung-up", by: "caller", reason: "asked" });
    assert.equal(summary.connectMs, 130);
    assert.equal(summary.durationMs, 1000);
    assert.equal(summary.said.chunks, chunks);
    assert.equal(summary.traffic.messagesOut, socket.sent.length);
    assert.equal(clock.pendingTimers, 0);
  }
});

test("keys are pressed in their time, early ones when the call stands", async () => {
  const { call, clock, socket } = dial();
  assert.throws(() => call.press("1x"), RangeError);
  call.press("1w#");
  clock.runFor(500);
  socket.open();
  clock.runFor(1000);
  assert.deepEqual(
    socket.events("dtmf").map((event) => (event["dtmf"] as { digit: string }).digit),
    ["1", "#"],
  );
  call.hangUp();
  call.press("5");
  socket.end(1000);
  assert.equal((await call.ended).summary.digits, "1#");
});

test("the bot's hanging up, and its breaking down", async () => {
  const table: [code: number, outcome: object][] = [
    [1000, { type: "hung-up", by: "bot", code: 1000 }],
    [1005, { type: "hung-up", by: "bot", code: 1005 }],
    [1006, { type: "dropped", code: 1006, reason: "why" }],
    [1011, { type: "dropped", code: 1011, reason: "why" }],
  ];
  for (const [code, outcome] of table) {
    const { call, clock, socket } = dial();
    socket.open();
    socket.say(loud(1000));
    clock.runFor(400);
    socket.end(code, "why");
    const report = await call.ended;
    assert.deepEqual(report.outcome, outcome);
    assert.equal(report.summary.heard.cutOffMs, 620);
    assert.equal(socket.events("stop").length, 0);
    assert.equal(clock.pendingTimers, 0);
  }
});

test("calls that never stand", async () => {
  const refused = dial();
  refused.socket.fail({ message: "ECONNREFUSED" });
  refused.socket.end(1006);
  assert.deepEqual((await refused.call.ended).outcome, {
    type: "not-connected",
    reason: "refused",
    cause: { message: "ECONNREFUSED" },
  });

  const slow = dial();
  slow.clock.runFor(10_001);
  assert.deepEqual((await slow.call.ended).outcome, {
    type: "not-connected",
    reason: "timed-out",
    cause: undefined,
  });
  slow.socket.open();
  assert.deepEqual(slow.socket.sent, []);

  const stopped = dial({ signal: AbortSignal.abort() });
  assert.equal((await stopped.call.ended).outcome.type, "not-connected");
  assert.equal((await stopped.call.ended).summary.connectMs, undefined);
});

test("aborting hangs up in good order", async () => {
  const controller = new AbortController();
  const { call, clock, socket } = dial({ signal: controller.signal });
  socket.open();
  clock.runFor(100);
  controller.abort();
  assert.equal(socket.sent.at(-1)?.["event"], "stop");
  clock.runFor(2001); // the bot never closes its side
  assert.deepEqual((await call.ended).outcome, { type: "hung-up", by: "caller", reason: "aborted" });
});

test("hangs up after silence, when everything has been said and heard", async () => {
  const { call, clock, socket } = dial({ hangUpAfterSilenceMs: 2000 });
  socket.open();
  clock.runFor(1900);
  socket.say(loud(1000));
  clock.runFor(2990); // until 4890; the bot was heard until 2920
  assert.equal(socket.closedWith, undefined);
  clock.runFor(40);
  assert.equal(socket.closedWith, 1000);
  socket.end(1000);
  assert.deepEqual((await call.ended).outcome, { type: "hung-up", by: "caller", reason: "silence" });
});

test("the longest call ends by itself", async () => {
  const { call, clock, socket } = dial({ maxCallMs: 3000 });
  socket.open();
  socket.say(loud(60_000));
  clock.runFor(3000);
  socket.end(1000);
  const { outcome, heard, summary } = await call.ended;
  assert.deepEqual(outcome, { type: "hung-up", by: "caller", reason: "time-up" });
  assert.equal(heard.samples.length, 24_000);
  assert.equal(summary.pacing.largestLeadMs, 60_020);
});

test("a voice of another rate than the line's is refused before dialling", () => {
  const voice = createConversation({ sampleRateHz: 16_000, sentences: [] });
  assert.throws(() => dial({ voice }), /8000 Hz/);
});

function names(messages: Record<string, unknown>[]): unknown[] {
  return messages.map(({ event }) => event);
}
