import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { BOT_TONE_HZ } from "../../bots/conformance-bot.ts";
import { eventually } from "../../../testing/wait.ts";
import type { Caller } from "../caller.ts";
import { testCase } from "../case.ts";
import type { Line } from "../line.ts";
import { MICROPHONE_TONE_HZ } from "../microphone.ts";

/** Cases of clients with a peer connection. */
export function offerCases(line: Line): void {
  testCase("data in the offer takes the place of the start body", async (context) => {
    const caller = await line.openCaller(context, { body: { mode: "quiet" } });
    const requestData = { mode: "quiet", conversation: "from the offer" };
    await caller.connect({ toConnection: (answer) => offerTo(offerUrlOf(line, answer), requestData) });
    assert.deepEqual((await caller.report()).body, requestData);
  });

  testCase("an offer without a start is a session too", async (context) => {
    const { bareOfferUrl } = line.target();
    if (!bareOfferUrl) return context.skip("this service wants a start first");
    const caller = await line.openCaller(context, { body: {} });
    const requestData = { mode: "quiet", conversation: "no start" };
    await caller.connect({ toConnection: () => offerTo(bareOfferUrl, requestData) });
    assert.deepEqual((await caller.report()).body, requestData);
    return undefined;
  });

  testCase("an offer to an unknown session is refused for good", async (context) => {
    const caller = await line.openCaller(context, { body: {} });
    const toNowhere = (): unknown => offerTo(offerUrlOf(line, { sessionId: randomUUID() }), {});
    await assert.rejects(
      caller.connect({ toConnection: toNowhere }),
      /WebRTC offer rejected with status 4\d\d/,
    );
    const [offer] = await eventually({
      what: "the refusal is seen",
      look: () => caller.offers,
      until: (offers) => offers.length === 1,
    });
    assert.match(String(offer?.status), /^4\d\d$/);
  });
}

/** With a bot that sings. */
export async function renegotiate(caller: Caller): Promise<void> {
  await caller.hears(BOT_TONE_HZ);
  const before = await caller.report();
  await caller.send("renegotiate");
  const [first, second] = await eventually({
    what: "the client offers again",
    look: () => caller.offers,
    until: (offers) => offers.length >= 2,
  });
  assert.deepEqual(second, { peerBefore: first?.peer, restart: false, status: 200, peer: first?.peer });
  const after = await caller.report();
  assert.equal(after.run, before.run);
  assert.equal(after.calls, 1);
  await caller.hears(BOT_TONE_HZ);
  await caller.botHears(MICROPHONE_TONE_HZ);
  assert.equal(await caller.state(), "ready");
}

function offerUrlOf(line: Line, answer: unknown): string {
  const { sessionId } = answer as { sessionId: string };
  return line.target().startUrl.replace("/start", `/sessions/${sessionId}/api/offer`);
}

function offerTo(endpoint: string, requestData: unknown): unknown {
  return { webrtcRequestParams: { endpoint, requestData } };
}
