import assert from "node:assert/strict";
import { test } from "node:test";
import type { CliConfig } from "../config.ts";
import type { Problem } from "../problem.ts";
import type { CallOptions } from "./call-options.ts";
import { findStream } from "./find-stream.ts";
import { planCall } from "./plan-call.ts";

const none = { accountId: undefined, secret: undefined };
const CONFIG: CliConfig = { twilio: none, telnyx: none, plivo: none, exotel: none };

function options(given: Partial<CallOptions>): CallOptions {
  return { carrier: "twilio", say: [], parameter: [], ...given } as CallOptions;
}

test("alone it calls the runner as Twilio, with the caller's numbers", () => {
  const plan = planCall(options({}), CONFIG);
  assert.deepEqual(plan.target, { type: "stream", url: "ws://localhost:7860/ws" });
  assert.deepEqual(plan.carrier, { name: "twilio" });
  assert.deepEqual(plan.details.parameters, { from_number: "+12025550143", to_number: "+12025550199" });
  assert.equal(plan.secret, undefined);
});

test("given values win", () => {
  const config = { ...CONFIG, twilio: { accountId: "AC9", secret: "from the environment" } };
  const plan = planCall(options({ from: "+49", parameter: ["agent=a=b", "to_number=x"] }), config);
  assert.deepEqual(plan.details.parameters, { from_number: "+49", agent: "a=b", to_number: "x" });
  assert.equal(plan.details.ids.accountId, "AC9");
  assert.equal(plan.secret, "from the environment");
  assert.equal(planCall(options({ signingSecret: "flag" }), config).secret, "flag");
});

test("encodings by carrier", () => {
  const l16 = { codec: "L16", sampleRateHz: 16_000 } as const;
  const pcmu = { codec: "PCMU", sampleRateHz: 8000 } as const;
  const table: [Partial<CallOptions>, object][] = [
    [{ encoding: "MULAW" }, { name: "twilio" }],
    [{ carrier: "telnyx" }, { name: "telnyx", uplink: pcmu, downlink: pcmu }],
    [
      { carrier: "telnyx", encoding: "pcma", botEncoding: "L16/16000" },
      { name: "telnyx", uplink: { codec: "PCMA", sampleRateHz: 8000 }, downlink: l16 },
    ],
    [
      { carrier: "plivo", encoding: "l16" },
      { name: "plivo", format: { contentType: "audio/x-l16", sampleRateHz: 8000 } },
    ],
    [
      { carrier: "exotel", encoding: "pcm/24000" },
      { name: "exotel", sampleRateHz: 24_000 },
    ],
    [
      { carrier: "exotel", to: "ws://h/ws?sample-rate=16000" },
      { name: "exotel", sampleRateHz: 16_000 },
    ],
  ];
  for (const [given, carrier] of table) assert.deepEqual(planCall(options(given), CONFIG).carrier, carrier);
});

test("options that make no sense are usage errors", () => {
  const table: [Partial<CallOptions>, RegExp][] = [
    [{ to: "http://h/" }, /--to wants an address/],
    [{ to: "localhost:7860" }, /--to wants/],
    [{ webhook: "ws://h/" }, /--webhook wants/],
    [{ encoding: "opus" }, /Twilio has no encoding "opus"/],
    [{ carrier: "telnyx", encoding: "PCMU/16000" }, /no encoding/],
    [{ carrier: "exotel", to: "ws://h/?sample-rate=44100" }, /no encoding/],
    [{ botEncoding: "L16" }, /--bot-encoding/],
    [{ dtmf: "12Da" }, /"a" is not a telephone key/],
    [{ parameter: ["novalue"] }, /name=value/],
    [{ parameter: [`k=${"v".repeat(500)}`] }, /500 characters/],
    [{ carrier: "plivo", parameter: [`k=${"v".repeat(600)}`] }, /512 bytes/],
    [{ carrier: "exotel", parameter: ["a=1", "b=2", "c=3", "d=4"] }, /3 parameters/],
  ];
  for (const [given, message] of table) {
    assert.throws(
      () => planCall(options(given), CONFIG),
      (error: Problem) => error.exitCode === 2 && message.test(error.message),
      JSON.stringify(given),
    );
  }
});

test("the address as each carrier would dial it", async () => {
  const table: [Partial<CallOptions>, string][] = [
    [{ to: "ws://h/ws?a=1" }, "ws://h/ws"],
    [{ to: "ws://h/ws/", token: "t" }, "ws://h/ws/t"],
    [{ carrier: "telnyx", to: "ws://h/ws?a=1" }, "ws://h/ws?a=1"],
    [{ carrier: "exotel", to: "ws://h/ws", encoding: "PCM/16000" }, "ws://h/ws?sample-rate=16000"],
    [{ carrier: "exotel", to: "ws://h/ws", parameter: ["k=v"] }, "ws://h/ws?k=v"],
  ];
  for (const [given, url] of table) {
    const wanted = options(given);
    const context = { ui: undefined as never, signal: AbortSignal.timeout(1000) };
    assert.equal((await findStream(planCall(wanted, CONFIG), wanted, context)).url, url);
  }
});
