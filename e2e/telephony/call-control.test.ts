// Call control of a bot, over the carriers' streams and REST interfaces.
import assert from "node:assert/strict";
import { carrierNames, type CarrierName } from "@vocalhost/protocol";
import { after, beforeEach, describe, test } from "node:test";
import { carrierSecrets, startCarrierRest } from "../../testing/carrier-rest.ts";
import { TRANSFER_TO, type Mode } from "./phone-bot.ts";
import { startPhoneRunner } from "./phone-runner.ts";
import { dial, type Call } from "./telephone.ts";
import { signed } from "./sign.ts";

describe("with the carriers' accounts set", async () => {
  const rest = await startCarrierRest();
  const runner = await startPhoneRunner({ environment: rest.environment });
  after(async () => {
    await runner[Symbol.asyncDispose]();
    await rest[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    rest.done.length = 0;
    rest.beforeAnswer = () => undefined;
  });

  const token = rest.environment["TWILIO_AUTH_TOKEN"] ?? "";
  const headers = await signed("twilio", { url: runner.socketUrl() }, token);
  const dialled = (name: CarrierName, mode: Mode): Call =>
    dial({ carrier: { name }, url: runner.socketUrl(), headers, parameters: { mode } });
  const endOf = async (call: Call): Promise<unknown> =>
    (await runner.record(call.details.ids.callId, ({ ended }) => ended !== null)).ended;

  for (const name of ["twilio", "telnyx", "plivo"] as const)
    test(`${name}: a transferred call is not hung up on`, async () => {
      const call = dialled(name, "transfer");
      const { summary } = await call.ended();
      assert.ok(summary.heard.audibleSeconds > 0, "it said goodbye");
      const { callId } = call.details.ids;
      assert.equal(await endOf(call), "transferred");
      assert.equal(rest.done.length, 1, rest.done.join());
      assert.ok(rest.done[0]!.startsWith(`${name} transfers ${callId} `));
      if (name !== "plivo") return assert.ok(rest.done[0]!.endsWith(` to ${TRANSFER_TO}`));
      // Plivo fetches what to do from us.
      const address = new URL(/ as (\S+) says/.exec(rest.done[0]!)?.[1] ?? "");
      assert.equal(address.origin, `http://127.0.0.1:${runner.port}`);
      const refused = await runner.webhook(address.pathname + address.search);
      assert.equal(refused.status, 403, "unsigned");
      return undefined;
    });

  test("a carrier that takes the call before it answers us has been transferred all the same", async () => {
    const call = dialled("twilio", "transfer");
    rest.beforeAnswer = async () => {
      call.hangUp(); // sends `stop` and closes, as a stream does that another instruction replaces
      await endOf(call);
    };
    await call.ended();
    assert.equal(await endOf(call), "transferred");
    assert.deepEqual(rest.refused, []);
  });

  for (const name of carrierNames)
    test(`${name}: keys are collected and pressed`, async () => {
      const call = dialled(name, "menu");
      await runner.record(call.details.ids.callId);
      call.press("42");
      await call.ended();
      const { keys } = await runner.record(call.details.ids.callId, ({ ended }) => ended !== null);
      assert.equal(keys, "42 complete");
      const pressed = rest.done.filter((each) => each.includes("presses"));
      assert.deepEqual(pressed, name === "telnyx" ? [`telnyx presses 5 in ${call.details.ids.callId}`] : []);
    });

  test("told so, the bot leaves the call to the carrier's next instruction", async () => {
    const call = dialled("twilio", "leave");
    const { outcome } = await call.ended();
    assert.deepEqual(outcome, { type: "hung-up", by: "bot", code: 1000 }, "the stream ends");
    assert.equal(await endOf(call), "bot-finished");
    assert.deepEqual(rest.done, [], "the call does not");
  });

  test("nothing of it shows the accounts", () => {
    assert.doesNotMatch(runner.output(), carrierSecrets);
    assert.deepEqual(rest.refused, []);
  });
});
