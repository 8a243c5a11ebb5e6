import assert from "node:assert/strict";
import { carrierNames, type CarrierName } from "@vocalhost/protocol";
import { describe, test } from "node:test";
import { CarrierError, type CarrierStream } from "@vocalhost/carriers";
import { detectCall, parseMessage } from "./detect.ts";

const STARTS: Record<CarrierName, object> = {
  twilio: { event: "start", start: { streamSid: "MZ", callSid: "CA" } },
  telnyx: { event: "start", stream_id: "st", start: { call_control_id: "v3:x" } },
  plivo: { event: "start", start: { streamId: "st", callId: "ca" } },
  exotel: { event: "start", start: { stream_sid: "st", call_sid: "ca", account_sid: "ac" } },
};
const CONNECTED = { event: "connected" };

describe("each carrier is known by its start", () => {
  for (const name of carrierNames) {
    test(`${name} after a greeting`, async () => {
      assert.equal((await detect([CONNECTED, STARTS[name]])).stream.carrier, name);
    });
    test(`${name} without a greeting, and no message more is read`, async () => {
      const { stream, asked } = await detect([STARTS[name], { event: "media" }]);
      assert.equal(stream.carrier, name);
      assert.deepEqual(asked, [0]);
    });
  }
});

test("a message with the marks of several carriers goes to the first in the list", async () => {
  const marks = Object.assign(
    {},
    ...Object.values(STARTS).map((start) => (start as { start: object }).start),
  );
  const all = { event: "start", stream_id: "st", start: marks as Record<string, string> };
  const without = (...fields: string[]): object => ({
    ...all,
    start: Object.fromEntries(Object.entries(all.start).filter(([name]) => !fields.includes(name))),
  });
  const carrierOf = async (message: object): Promise<string> => (await detect([message])).stream.carrier;
  assert.equal(await carrierOf(all), "twilio");
  assert.equal(await carrierOf(without("callSid")), "telnyx");
  assert.equal(await carrierOf(without("callSid", "call_control_id")), "plivo");
  assert.equal(await carrierOf(without("callSid", "call_control_id", "callId")), "exotel");
});

test("Telnyx and Plivo need no event name, Twilio and Exotel do", async () => {
  for (const name of carrierNames) {
    const message = { ...STARTS[name], event: undefined };
    const detected = await detect([message, message]).then(
      ({ stream }) => stream.carrier,
      () => undefined,
    );
    assert.equal(detected, name === "telnyx" || name === "plivo" ? name : undefined);
  }
});

test("no more than two messages are read", async () => {
  await assert.rejects(detect([CONNECTED, CONNECTED, STARTS.twilio]), (error) => {
    assert.ok(error instanceof CarrierError);
    assert.match(error.message, /not those of a carrier we know: twilio, telnyx, plivo, exotel/);
    return true;
  });
});

test("what is not JSON counts as a message that says nothing", async () => {
  for (const text of ["", "hello", "{", "null", "5", '"start"', "[]", "\u0000", `[${"[".repeat(100_000)}`])
    assert.equal((await detect([text, STARTS.plivo])).stream.carrier, "plivo", text.slice(0, 20));
  assert.deepEqual(parseMessage("not json"), {});
  assert.deepEqual(parseMessage('[{"event":"stop"}]'), {});
  assert.deepEqual(parseMessage('{"event":"stop"}'), { event: "stop" });
});

test("a message too large for a carrier says nothing", () => {
  const message = (length: number): string => JSON.stringify({ event: "x".repeat(length) });
  assert.notDeepEqual(parseMessage(message(60_000)), {});
  assert.deepEqual(parseMessage(message(70_000)), {});
});

test("a socket that closes early is told apart", async () => {
  await assert.rejects(
    detect([]),
    /^CarrierError: WebSocket closed before receiving telephony handshake messages$/,
  );
  await assert.rejects(
    detect([CONNECTED]),
    /^CarrierError: The carrier closed the WebSocket before it named the call$/,
  );
});

test("with -t only that carrier's calls are taken", async () => {
  for (const only of carrierNames)
    for (const name of carrierNames) {
      const detected = detect([CONNECTED, STARTS[name]], only);
      if (name === only) assert.equal((await detected).stream.carrier, only);
      else await assert.rejects(detected, new RegExp(`not those of a ${only} call \\(-t ${only}\\)`));
    }
});

test("a carrier's refusal is passed on", async () => {
  const start = { call_control_id: "v3:x", media_format: { encoding: "OPUS" } };
  await assert.rejects(detect([{ event: "start", stream_id: "st", start }]), /OPUS, which is not supported/);
});

async function detect(
  messages: (object | string)[],
  only?: CarrierName,
): Promise<{ stream: CarrierStream; asked: number[] }> {
  const asked: number[] = [];
  const peek = async (place: number): Promise<string | undefined> => {
    asked.push(place);
    const message = messages[place];
    return typeof message === "object" ? JSON.stringify(message) : message;
  };
  return { stream: await detectCall(peek, new URLSearchParams(), only), asked };
}
