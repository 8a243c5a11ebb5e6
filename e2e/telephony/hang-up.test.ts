import assert from "node:assert/strict";
import { carrierNames, type CarrierName } from "@vocalhost/protocol";
import { after, beforeEach, describe, test } from "node:test";
import { openCarrierSocket, type CarrierSocket } from "./carrier-socket.ts";
import type { Mode } from "./phone-bot.ts";
import { startPhoneRunner } from "./phone-runner.ts";
import { startRestInterface } from "./rest-interface.ts";
import { dial, type Call } from "./telephone.ts";
import { signed } from "./sign.ts";

describe("with the carriers' accounts set", async () => {
  const rest = await startRestInterface();
  const runner = await startPhoneRunner({ environment: rest.environment });
  after(async () => {
    await runner[Symbol.asyncDispose]();
    await rest[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    rest.requests.length = 0;
    rest.onRequest = () => undefined;
    rest.status = 200;
  });

  const headers = await signed("twilio", { url: runner.socketUrl() }, "twilio-token");
  const dialled = (name: CarrierName, mode: Mode): Call =>
    dial({ carrier: { name }, url: runner.socketUrl(), headers, parameters: { mode } });
  const lineOf: Record<CarrierName, (callId: string) => string[]> = {
    twilio: (callId) => [`POST /2010-04-01/Accounts/AC1/Calls/${callId}.json`],
    telnyx: (callId) => [`POST /v2/calls/${encodeURIComponent(callId)}/actions/hangup`],
    plivo: (callId) => [`DELETE /v1/Account/MA1/Call/${callId}/`],
    exotel: () => [],
  };

  for (const name of carrierNames) {
    test(`${name}: the bot hangs up by request first, then the socket closes`, async () => {
      const call = dialled(name, "goodbye");
      let wasOpen: boolean | undefined;
      rest.onRequest = () => {
        wasOpen = !call.events.some(({ type }) => type === "call-ended");
      };
      const { outcome, summary } = await call.ended();
      assert.deepEqual(outcome, { type: "hung-up", by: "bot", code: 1000 });
      assert.equal(summary.heard.cutOffMs, 0);
      assert.deepEqual(
        rest.requests.map(({ line }) => line),
        lineOf[name](call.details.ids.callId),
      );
      if (name !== "exotel") assert.equal(wasOpen, true, "the socket was open when the carrier was asked");
      assert.equal(
        (await runner.record(call.details.ids.callId, ({ ended }) => ended !== null)).ended,
        "bot-finished",
      );
    });

    test(`${name}: a caller who hung up is not hung up on`, async () => {
      const call = dialled(name, "silent");
      await runner.record(call.details.ids.callId);
      call.hangUp();
      await call.ended();
      await runner.record(call.details.ids.callId, ({ ended }) => ended === "client-left");
      assert.deepEqual(rest.requests, []);
    });
  }

  test("a refusal does not keep the socket open", async () => {
    rest.status = 500;
    const call = dialled("plivo", "goodbye");
    assert.deepEqual((await call.ended()).outcome, { type: "hung-up", by: "bot", code: 1000 });
    await runner.printed(/carrier refused to hang up.*status=500/);
    assert.doesNotMatch(runner.output(), /plivo-token|twilio-token|telnyx-key/);
  });

  test("no id a caller makes up turns into another request", async () => {
    const codes: [string, number][] = [];
    for (const callId of [".", "..", "%2e", "../../x", "a/..", "a?b#c", "\ud800", "a/b+c"]) {
      using socket = await openCarrierSocket(runner.socketUrl());
      const start = { event: "start", start: { callId, streamId: "st" }, extra_headers: "mode=goodbye" };
      socket.say(start, start);
      codes.push([callId, await playedUntilClosed(socket)]);
    }
    assert.deepEqual(
      codes.filter(([, code]) => code === 1000),
      [["a/b+c", 1000]],
    );
    assert.deepEqual(
      rest.requests.map(({ line }) => line),
      ["DELETE /v1/Account/MA1/Call/a%2Fb%2Bc/"],
    );
  });
});

/** Plays a carrier that has heard everything at once; gives the code the socket closes with. */
async function playedUntilClosed(socket: CarrierSocket): Promise<number> {
  socket.socket.on("message", (data: Buffer) => {
    const { event, name } = JSON.parse(data.toString()) as { event: string; name: string };
    if (event === "checkpoint") socket.say({ event: "playedStream", streamId: "st", name });
  });
  return (await socket.closed(20_000)).code;
}
