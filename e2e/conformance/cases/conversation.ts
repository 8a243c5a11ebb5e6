import { testCase } from "../case.ts";
import type { Line } from "../line.ts";
import { connectingSteps } from "./connecting.ts";
import { hearToTheLastNote, leavePage, sendBotAway, disconnect } from "./ending.ts";
import { messageSteps } from "./messages.ts";
import { renegotiate } from "./offers.ts";
import { hearBot, interrupt, listeningSteps } from "./sound.ts";

/** Conversations from their beginning to their end, one for each way a bot behaves and a conversation ends. */
export function conversationCases(line: Line, { isWhole }: { isWhole: boolean }): void {
  testCase("a bot that listens, until the page is left", async (context) => {
    const caller = await line.openCaller(context, { body: { mode: "quiet" } });
    await connectingSteps(context, line, caller);
    await listeningSteps(context, caller);
    if (isWhole) await messageSteps(context, caller);
    await context.test("the session ends soon after the page was left", () => leavePage(line, caller));
  });
  if (!isWhole) return;

  testCase("a bot that sings, until the client disconnects", async (context) => {
    const caller = await line.call(context, { mode: "tone" });
    await context.test("the caller hears the bot", () => hearBot(caller));
    if (line.transport === "webrtc")
      await context.test("a new offer on a running connection changes nothing for the bot", () =>
        renegotiate(caller),
      );
    await context.test("the session ends soon after the client disconnects", () => disconnect(line, caller));
  });

  testCase("a bot with much to say, until it is sent away", async (context) => {
    const caller = await line.call(context, { mode: "monologue" });
    await context.test("an interrupted bot falls silent at once", (step) => interrupt(step, caller));
    await context.test("a client may send its bot away", () => sendBotAway(line, caller));
  });

  testCase("a bot that finishes is heard to its last note, and the client disconnects", (context) =>
    hearToTheLastNote(context, line),
  );
}
