import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { BOT_TONE_HZ } from "../../bots/conformance-bot.ts";
import type { Caller } from "../caller.ts";
import { eventually } from "../../../testing/wait.ts";
import { MICROPHONE_TONE_HZ } from "../microphone.ts";
import { isSilence } from "../tone.ts";

const SILENT_WITHIN_MS = 4_000; // a third of a second on an idle machine; the bot has far more to say

/** With a bot that says nothing. */
export async function listeningSteps(context: TestContext, caller: Caller): Promise<void> {
  await context.test("the bot hears the microphone, and the caller hears no quiet bot", async () => {
    await caller.botHears(MICROPHONE_TONE_HZ);
    assert(isSilence(await caller.hear()));
    assert.deepEqual(await caller.events("botStartedSpeaking"), []);
  });

  await context.test("a muted microphone is silence for the bot until it is on again", async () => {
    await caller.page.evaluate(() => window.callerPage.client.enableMic(false));
    await eventually({
      what: "the bot hears nothing",
      look: () => caller.report(),
      until: ({ heard }) => isSilence(heard),
    });
    await caller.page.evaluate(() => window.callerPage.client.enableMic(true));
    await caller.botHears(MICROPHONE_TONE_HZ);
  });
}

export async function hearBot(caller: Caller): Promise<void> {
  await caller.hears(BOT_TONE_HZ);
  await told(caller, "botStartedSpeaking");
}

/** With a bot that has queued more than the test will listen to. */
export async function interrupt(context: TestContext, caller: Caller): Promise<void> {
  await caller.hears(BOT_TONE_HZ);
  const heardMs = await caller.page.evaluate(stopAndListen);
  context.diagnostic(`silent after ${Math.round(heardMs)} ms`);
  assert(heardMs < SILENT_WITHIN_MS, `the bot was still heard after ${Math.round(heardMs)} ms`);
  await told(caller, "botStoppedSpeaking");
}

async function told(caller: Caller, event: string): Promise<void> {
  await eventually({
    what: `the client is told ${event} once`,
    look: () => caller.events(event),
    until: (events) => events.length === 1,
  });
}

// Run inside the page: how long the bot is heard after it has answered that it stops.
async function stopAndListen(): Promise<number> {
  const { client, loudspeaker } = window.callerPage;
  await client.sendClientRequest("stop", {});
  const stoppedMs = performance.now();
  const isHeard = (): boolean => loudspeaker.hear().level > 0.001;
  while (isHeard() && performance.now() - stoppedMs < 8_000)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return performance.now() - stoppedMs;
}
