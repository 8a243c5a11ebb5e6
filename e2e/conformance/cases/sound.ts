import assert from "node:assert/strict";
import { BOT_TONE_HZ } from "../../bots/conformance-bot.ts";
import { testCase } from "../case.ts";
import type { Caller } from "../caller.ts";
import { eventually } from "../../../testing/wait.ts";
import type { Line } from "../line.ts";
import { MICROPHONE_TONE_HZ } from "../microphone.ts";
import { isSilence } from "../tone.ts";

const SILENT_WITHIN_MS = 4_000; // a third of a second on an idle machine; the bot has far more to say

export function soundCases(line: Line): void {
  testCase("the bot hears the microphone, and nobody hears a quiet bot", async (context) => {
    const caller = await line.call(context, { mode: "quiet" });
    await caller.botHears(MICROPHONE_TONE_HZ);
    assert(isSilence(await caller.hear()));
    assert.deepEqual(await caller.events("botStartedSpeaking"), []);
  });

  testCase("the caller hears the bot", async (context) => {
    const caller = await line.call(context, { mode: "tone" });
    await caller.hears(BOT_TONE_HZ);
    await told(caller, "botStartedSpeaking");
  });

  testCase("a bot may speak before its client is there", async (context) => {
    const caller = await line.call(context, { mode: "eager-tone" });
    await caller.hears(BOT_TONE_HZ);
  });

  testCase("the microphone comes back from an echoing bot", async (context) => {
    const caller = await line.call(context, { mode: "echo" });
    await caller.hears(MICROPHONE_TONE_HZ);
    await caller.botHears(MICROPHONE_TONE_HZ);
  });

  testCase("a muted microphone is silence for the bot until it is on again", async (context) => {
    const caller = await line.call(context, { mode: "quiet" });
    await caller.botHears(MICROPHONE_TONE_HZ);
    await caller.page.evaluate(() => window.callerPage.client.enableMic(false));
    await eventually({
      what: "the bot hears nothing",
      look: () => caller.report(),
      until: ({ heard }) => isSilence(heard),
    });
    await caller.page.evaluate(() => window.callerPage.client.enableMic(true));
    await caller.botHears(MICROPHONE_TONE_HZ);
  });

  testCase("an interrupted bot falls silent at once", async (context) => {
    const caller = await line.call(context, { mode: "monologue" });
    await caller.hears(BOT_TONE_HZ);
    const heardMs = await caller.page.evaluate(stopAndListen);
    context.diagnostic(`silent after ${Math.round(heardMs)} ms`);
    assert(heardMs < SILENT_WITHIN_MS, `the bot was still heard after ${Math.round(heardMs)} ms`);
    await told(caller, "botStoppedSpeaking");
  });
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
