import {
  openStream,
  readCarrierAccounts,
  type CarrierMessage,
  type CarrierName,
  type CarrierStream,
} from "@vocalhost/carriers";
import assert from "node:assert/strict";
import { after, beforeEach, describe, test } from "node:test";
import { carrierSecrets, startCarrierRest } from "../../../../testing/carrier-rest.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { createPhoneCall, type PhoneCall } from "./phone-call.ts";
import type { AudioOutput } from "./transport.ts";

const STREAMS: Record<CarrierName, CarrierStream> = {
  twilio: open("twilio", { event: "start", start: { streamSid: "MZ1", callSid: "CA1", accountSid: "AC9" } }),
  telnyx: open("telnyx", { event: "start", stream_id: "st", start: { call_control_id: "v3:a" } }),
  plivo: open("plivo", { event: "start", start: { streamId: "st", callId: "5b2a" } }),
  exotel: open("exotel", {
    event: "start",
    start: { stream_sid: "st", call_sid: "ca", account_sid: "ac" },
  }),
};
const TO = "+15550100200";
const CALLBACK = "https://bots.example.com";

describe("a call, over each carrier's REST interface", async () => {
  const rest = await startCarrierRest();
  after(() => rest[Symbol.asyncDispose]());
  beforeEach(() => {
    rest.done.length = 0;
    rest.refused.length = 0;
    rest.requests.length = 0;
  });

  const TRANSFERS: Partial<Record<CarrierName, string>> = {
    twilio: `twilio transfers CA1 to ${TO}`,
    telnyx: `telnyx transfers v3:a to ${TO}`,
    plivo: `plivo transfers 5b2a as ${CALLBACK}/calls/transfer?to=%2B15550100200 says`,
  };
  for (const [name, expected] of Object.entries(TRANSFERS) as [CarrierName, string][]) {
    test(`${name}: a transfer is asked for once and ends the bot's part`, async () => {
      const { call, told } = phoneCall(name, rest.environment);
      await call.transfer(TO);
      assert.deepEqual([rest.done, rest.refused], [[expected], []]);
      assert.deepEqual(told, ["leaving: transferred", "over: transferred"]);
    });

    test(`${name}: a refusal is told without credentials, and the call goes on`, async () => {
      const { call, told, logged } = phoneCall(name, rest.environment);
      rest.refuseNext();
      const error = await call.transfer(TO).then(
        () => undefined,
        (reason: Error) => reason,
      );
      assert.match(error?.message ?? "", /refused the transfer: HTTP 400, 21211 refused as told/);
      assert.doesNotMatch(JSON.stringify([error?.message, logged]), carrierSecrets);
      assert.deepEqual(told, ["leaving: transferred", "leaving: undefined"]);
      await call.hangUp();
      assert.deepEqual(rest.done.length, 1);
      assert.deepEqual(told.slice(2), ["leaving: hung-up", "over: hung-up"]);
    });

    test(`${name}: without an account it says what is missing`, async () => {
      const { call, told } = phoneCall(name, {});
      await assert.rejects(call.transfer(TO), new RegExp(`${name.toUpperCase()}_`));
      assert.deepEqual(told, [], "the bot keeps the call all the while");
    });
  }

  test("the caller id can be chosen, and SIP addresses are called in the carrier's words", async () => {
    await phoneCall("twilio", rest.environment).call.transfer("sip:desk@example.com", { callerId: "+1555" });
    assert.match(String(rest.requests[0]!.fields["Twiml"]), /<Dial callerId="\+1555"><Sip>sip:desk@example/);
    await phoneCall("telnyx", rest.environment).call.transfer(TO, { callerId: "+1555" });
    assert.match(rest.requests[1]!.line, /^POST \/v2\/texml\/Accounts\/telnyx-account\/Calls\/v3%3Aa$/);
    const { TELNYX_ACCOUNT_SID: _, ...callControl } = rest.environment;
    await phoneCall("telnyx", callControl).call.transfer(TO, { callerId: "+1555" });
    assert.deepEqual(rest.requests[2]!.fields, { to: TO, from: "+1555" });
  });

  test("Plivo must be able to reach us, Exotel has no transfer: both are said", async () => {
    const plivoAlone = phoneCall("plivo", rest.environment, { callbackUrl: undefined });
    await assert.rejects(plivoAlone.call.transfer(TO), /--proxy/);
    await assert.rejects(phoneCall("exotel", rest.environment).call.transfer(TO), /Connect applet/);
    assert.deepEqual(rest.done, []);
  });

  test("what is no number is not asked for", async () => {
    const { call } = phoneCall("twilio", rest.environment);
    for (const to of ["", "5550100", "+1 555 0100", "+1555<Hangup/>", "tel:+15550100200"])
      await assert.rejects(call.transfer(to), RangeError, to);
    for (const keys of ["", "12a", "1 2", "1".repeat(65)])
      await assert.rejects(call.sendDtmf(keys), RangeError, keys);
    assert.deepEqual([rest.done, rest.refused], [[], []]);
  });

  test("keys go as the carrier takes them: by request, in a message, or as tones", async () => {
    const telnyxCall = phoneCall("telnyx", rest.environment);
    await telnyxCall.call.sendDtmf("12w#");
    assert.deepEqual(rest.done, ["telnyx presses 12w# in v3:a"]);
    const plivoCall = phoneCall("plivo", rest.environment);
    await plivoCall.call.sendDtmf("12w#");
    assert.deepEqual(plivoCall.sent, [
      { event: "sendDTMF", dtmf: "12" },
      { event: "sendDTMF", dtmf: "#" },
    ]);
    for (const name of ["twilio", "exotel"] as const) {
      const { call, playedMs } = phoneCall(name, rest.environment);
      await call.sendDtmf("12");
      assert.equal(playedMs(), 480, name);
    }
    assert.equal(rest.done.length, 1);
  });

  test("hanging up works everywhere, by request where there is one", async () => {
    for (const name of Object.keys(STREAMS) as CarrierName[]) {
      const { call, told } = phoneCall(name, rest.environment);
      await call.hangUp();
      assert.deepEqual(told.at(-1), "over: hung-up");
    }
    assert.deepEqual(rest.done, ["twilio ends CA1", "telnyx ends v3:a", "plivo ends 5b2a"]);
    assert.deepEqual(rest.refused, []);
  });
});

test("the bot knows whether a person or a machine answered", () => {
  const start = { streamSid: "MZ1", callSid: "CA1", customParameters: { answered_by: "machine" } };
  assert.equal(open("twilio", { event: "start", start }).callData.answeredBy, "machine");
  const odd = { ...start, customParameters: { answered_by: "robot" } };
  assert.equal(open("twilio", { event: "start", start: odd }).callData.answeredBy, undefined);
  const texml = { call_control_id: "v3:a", custom_parameters: { answered_by: "human" } };
  assert.equal(
    open("telnyx", { event: "start", stream_id: "st", start: texml }).callData.answeredBy,
    "human",
  );
  const xml = {
    event: "start",
    start: { streamId: "st", callId: "5b" },
    extra_headers: "answeredBy=unknown",
  };
  assert.equal(open("plivo", xml).callData.answeredBy, "unknown");
});

interface Watched {
  call: PhoneCall;
  told: string[];
  sent: unknown[];
  logged: unknown[];
  playedMs(): number;
}

function phoneCall(
  name: CarrierName,
  environment: Record<string, string>,
  options: { callbackUrl: string | undefined } = { callbackUrl: CALLBACK },
): Watched {
  const told: string[] = [];
  const sent: unknown[] = [];
  const { log, entries } = createCollectedLog();
  let playedMs = 0;
  const audioOut = {
    sampleRateHz: 24_000,
    write: ({ samples }: { samples: Int16Array }) => (playedMs += samples.length / 24) > 0,
    drained: async () => ({ playedMs, interrupted: false }),
  } as unknown as AudioOutput;
  const call = createPhoneCall({
    stream: STREAMS[name],
    accounts: () => readCarrierAccounts(environment),
    callbackUrl: options.callbackUrl,
    audioOut,
    log,
    signal: new AbortController().signal,
    sendText: (text) => sent.push(JSON.parse(text)),
    leaving: (reason) => told.push(`leaving: ${reason}`),
    over: (reason) => told.push(`over: ${reason}`),
  });
  return { call, told, sent, logged: entries, playedMs: () => playedMs };
}

function open(carrier: CarrierName, start: CarrierMessage): CarrierStream {
  const stream = openStream(carrier, start, new URLSearchParams());
  assert.ok(stream);
  return stream;
}
