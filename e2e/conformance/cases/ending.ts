import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { LAST_NOTE_HZ } from "../../bots/conformance-bot.ts";
import type { Caller } from "../caller.ts";
import { eventually } from "../../../testing/wait.ts";
import type { Line } from "../line.ts";
import { isMostly } from "../tone.ts";

const ENDED_MS = 2_000;

export async function disconnect(line: Line, caller: Caller): Promise<void> {
  const { sessionId } = await caller.report();
  await caller.page.evaluate(() => window.callerPage.client.disconnect());
  assert.equal(await line.target().sessionEnded(sessionId, ENDED_MS), "client-left");
  assert.equal(await caller.state(), "disconnected");
}

export async function leavePage(line: Line, caller: Caller): Promise<void> {
  const { sessionId } = await caller.report();
  await caller.page.goto("about:blank");
  assert.equal(await line.target().sessionEnded(sessionId, ENDED_MS), "client-left");
}

export async function sendBotAway(line: Line, caller: Caller): Promise<void> {
  const { sessionId } = await caller.report();
  await caller.page.evaluate(() => window.callerPage.client.disconnectBot());
  assert.equal(await line.target().sessionEnded(sessionId, ENDED_MS), "client-left");
  await disconnected(caller);
}

export async function hearToTheLastNote(context: TestContext, line: Line): Promise<void> {
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
