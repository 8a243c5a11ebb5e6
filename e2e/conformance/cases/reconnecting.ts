import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { BOT_TONE_HZ } from "../../bots/conformance-bot.ts";
import { openBreakablePath } from "../breakable-path.ts";
import { testCase } from "../case.ts";
import type { Caller } from "../caller.ts";
import { eventually } from "../../../testing/wait.ts";
import type { Line } from "../line.ts";
import { MICROPHONE_TONE_HZ } from "../microphone.ts";
import { isSilence } from "../tone.ts";

const RECONNECT_MS = 30_000; // released clients need 5 to 11 s to notice that nothing arrives any more
const LOST_MS = 22_000; // a service gives up a client that is silent for longer; only a starved browser is that slow

export function reconnectingCases(line: Line): void {
  testCase("the conversation goes on", (context) => loseNetwork(context, line, { lostOffers: 0 }));

  testCase("the conversation goes on even if the first offers are lost too", (context) =>
    loseNetwork(context, line, { lostOffers: 2 }),
  );
}

async function loseNetwork(
  context: TestContext,
  line: Line,
  loss: { lostOffers: number },
  attempt = 1,
): Promise<void> {
  const caller = await line.openCaller(context, { body: { mode: "tone" } });
  await using path = await openBreakablePath(caller.page);
  await caller.connect();
  await caller.hears(BOT_TONE_HZ);
  const before = await caller.botHears(MICROPHONE_TONE_HZ);
  await caller.send("chat"); // bots go on sending although no client listens
  await messagesAfter(caller, 0);
  path.cut(loss);
  const cutMs = performance.now();
  await eventually({ what: "nothing is heard any more", look: () => caller.hear(), until: isSilence });
  const [first, second] = await eventually({
    what: "the client reconnects",
    look: () => caller.offers,
    until: (offers) => offers.length >= 2,
    quietMs: RECONNECT_MS,
  });
  assert(path.lost > 0, "nothing was lost");
  const awayMs = performance.now() - cutMs;
  if (awayMs > LOST_MS && attempt < 3) {
    context.diagnostic(`the browser needed ${Math.round(awayMs)} ms to come back`);
    return loseNetwork(context, line, loss, attempt + 1);
  }
  assert.equal(second?.status, 200);
  assert.equal(second.peerBefore, first?.peer);
  assert.equal(second.restart, true);
  assert.notEqual(second.peer, first?.peer);
  const microphone = await caller.page.evaluate(() => window.callerPage.restoreMedia());
  await caller.hears(BOT_TONE_HZ);
  const after = await caller.botHears(MICROPHONE_TONE_HZ);
  await messagesAfter(caller, (await caller.events("serverMessage")).length);
  assert.equal(after.run, before.run);
  assert.equal(after.calls, 1);
  assert.equal(await caller.state(), "ready");
  const tracks = await caller.events<{ label: string }>("trackStarted");
  const voices = tracks.filter(({ label }) => label === "remote audio").length;
  context.diagnostic(`the client left its microphone ${microphone} and announced ${voices} of 2 voices`);
}

async function messagesAfter(caller: Caller, count: number): Promise<void> {
  await eventually({
    what: "messages of the bot arrive",
    look: () => caller.events("serverMessage"),
    until: (messages) => messages.length > count,
  });
}
