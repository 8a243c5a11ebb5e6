import { testCase } from "../case.ts";
import type { Line } from "../line.ts";
import { connectingSteps } from "./connecting.ts";
import { messageSteps } from "./messages.ts";
import { renegotiate } from "./offers.ts";
import { hearBot, interrupt, listeningSteps } from "./sound.ts";
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { LAST_NOTE_HZ } from "../../bots/conformance-bot.ts";
import type { Caller } from "../caller.ts";
import { eventually } from "../../../testing/wait.ts";
import { isMostly } from "../tone.ts";

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

const ENDED_MS = 2_000;

async function disconnect(line: Line, caller: Caller): Promise<void> {
  const { sessionId } = await caller.report();
  await caller.page.evaluate(() => window.callerPage.client.disconnect());
  assert.equal(await line.target().sessionEnded(sessionId, ENDED_MS), "client-left");
  assert.equal(await caller.state(), "disconnected");
}

async function leavePage(line: Line, caller: Caller): Promise<void> {
  const { sessionId } = await caller.report();
  await caller.page.goto("about:blank");
  assert.equal(await line.target().sessionEnded(sessionId, ENDED_MS), "client-left");
}

async function sendBotAway(line: Line, caller: Caller): Promise<void> {
  const { sessionId } = await caller.report();
  await caller.page.evaluate(() => window.callerPage.client.disconnectBot());
  assert.equal(await line.target().sessionEnded(sessionId, ENDED_MS), "client-left");
  await disconnected(caller);
}

async function hearToTheLastNote(context: TestContext, line: Line): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const caller = await line.openCaller(context, { body: { mode: "goodbye" } });
    const goodbye = caller.nextUtterance();
    await caller.connect();
    const { ending, lengthMs, gapMs } = await goodbye;
    context.diagnostic(`${Math.round(gapMs)} ms of ${Math.round(lengthMs)} ms were gaps`);
    await disconnected(caller);
    if (line.transport === "websocket") assert.match(await lastError(caller), /Code: 1000$/);
    else assert.equal((await caller.events("botDisconnected")).length, 1);
    if (isMostly(ending, LAST_NOTE_HZ)) return;
    // A browser that stutters for half a second seems to have heard the end; one that always does is cut off.
    assert(attempt < 3, `the last note was cut off: ${JSON.stringify(ending)}`);
  }
}

async function disconnected(caller: Caller): Promise<void> {
  await eventually({
    what: "the client is disconnected",
    look: () => caller.state(),
    until: (state) => state === "disconnected",
  });
}

// Released WebSocket clients report every close by the server as an error, with its code in the text.
async function lastError(caller: Caller): Promise<string> {
  const errors = await caller.events<{ data: { error?: string; message?: string } }>("error");
  const data = errors.at(-1)?.data;
  return data?.error ?? data?.message ?? "";
}
