import assert from "node:assert/strict";
import { after, test } from "node:test";
import { size } from "../../testing/sizes.ts";
import type { Figures } from "../bots/figures.ts";
import { callBot, createPeerClient, freePeerClients } from "../harness/peer-client.ts";
import { processFigures, type ProcessFigures } from "../harness/process-figures.ts";
import { call } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket, tryUpgrade } from "../harness/socket-client.ts";
import { until } from "../../testing/wait.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/impatient-runner.ts" });
const { port } = runner;
const pid = runner.process.pid!;
after(async () => {
  await runner[Symbol.asyncDispose]();
  freePeerClients();
});

const SESSIONS = size(24, 200);
const OPEN_FILES_MAX = 5;
const HEAP_GROWTH_MAX_MIB = 4;
const RSS_GROWTH_MAX_MIB = 30; // the allocator's ups and downs; a leak of a peer connection each is more

async function start(transport: string): Promise<{ id: string; wsUrl: string }> {
  const answer = await call(port, "POST /start", { body: { transport, body: { some: "data" } } });
  return { id: answer.headers["x-vocalhost-session-id"]!, wsUrl: answer.json().wsUrl };
}

const READY = { label: "rtvi-ai", id: "1", type: "client-ready", data: { version: "2.1.0" } };

/** Every way a session begins and ends, half of them cut short. */
const lives: (() => Promise<void>)[] = [
  async function wholeSocket() {
    using client = await openSocket((await start("websocket")).wsUrl);
    client.sendMessage(READY);
    for (let at = 0; at < 5; at += 1)
      client.sendAudio(new Int16Array(320).fill(1_000), at % 2 ? 44_100 : 16_000);
    await client.message("bot-ready");
    client.socket.close(1000);
    await client.closed();
  },
  async function wholeCall() {
    const path = async (): Promise<string> => `/sessions/${(await start("webrtc")).id}/api/offer`;
    using peer = await callBot({ port, path });
    peer.sendText(JSON.stringify(READY));
    await peer.speak(3, "tone");
    await until(() => peer.texts.some((text) => text.includes("bot-ready")), 15_000, "bot-ready");
  },
  async function socketCutOff() {
    using client = await openSocket(`ws://localhost:${port}/ws-client`);
    client.sendAudio(new Int16Array(320));
  },
  async function offerOnly() {
    using peer = createPeerClient();
    const sdp = await peer.offer();
    const { id } = await start("webrtc");
    const answer = await call(port, `POST /sessions/${id}/api/offer`, { body: { sdp, type: "offer" } });
    assert.equal(answer.status, 200);
  },
  async function startOnly() {
    await start("websocket");
  },
  async function callWithRestart() {
    using old = await callBot({ port });
    using peer = await callBot({ port, fields: { pc_id: old.pcId, restart_pc: true } });
    peer.sendText(JSON.stringify(READY));
    await until(() => peer.texts.some((text) => text.includes("bot-ready")), 15_000, "bot-ready");
  },
  async function botIsSentAway() {
    using client = await openSocket((await start("websocket")).wsUrl);
    client.sendMessage({ label: "rtvi-ai", id: "2", type: "disconnect-bot" });
    await client.closed();
  },
  async function startOfACallOnly() {
    await start("webrtc");
  },
];

async function live(sessions: number): Promise<void> {
  for (let at = 0; at < sessions; at += 1) await lives[at % lives.length]!();
  await until(async () => (await figures()).sessions === 0, 20_000, "end of all sessions");
  await until(() => processFigures(pid).udpSockets === 0, 15_000, "end of all sockets");
}

async function figures(): Promise<Figures> {
  return (await call(port, "GET /figures")).json();
}

async function measure(): Promise<Figures & ProcessFigures> {
  return { ...(await figures()), ...processFigures(pid) };
}

test(`${SESSIONS} sessions one after another leave nothing behind`, async () => {
  await live(4 * lives.length);
  const before = await measure();
  await live(SESSIONS);
  const after = await measure();
  const shown = JSON.stringify({ before, after });
  assert.ok(after.openFiles <= before.openFiles + OPEN_FILES_MAX, shown);
  assert.ok(after.threads <= before.threads, shown);
  for (const [name, count] of Object.entries(after.resources))
    assert.ok(count <= (before.resources[name] ?? 0) + OPEN_FILES_MAX, `${name}: ${shown}`);
  assert.ok(after.heapMib - before.heapMib < HEAP_GROWTH_MAX_MIB, shown);
  assert.ok(after.rssMib - before.rssMib < RSS_GROWTH_MAX_MIB, shown);
});

test("starts without a connection have expired, and say so", async () => {
  const socket = await start("websocket");
  const waiting = await start("webrtc");
  await until(async () => (await figures()).sessions === 0, 15_000, "end of all sessions");
  for (const { id } of [socket, waiting]) {
    assert.match(
      runner.output(),
      new RegExp(`session ended session=${id.slice(0, 8)} reason=never-connected`),
    );
    assertRefused(await call(port, `POST /sessions/${id}/api/offer`, { body: {} }), "SESSION_NOT_FOUND");
  }
  assertRefused(await tryUpgrade(socket.wsUrl), "SESSION_NOT_FOUND");
});

test("after all that it still ends cleanly", async () => {
  assert.equal(await runner.end(), 0);
  assert.doesNotMatch(runner.output(), /bot failed|did not|met an error|error outside/);
});

test("waiting sessions are limited, and room is made when they end", async () => {
  await using patient = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts" });
  const startOne = () => call(patient.port, "POST /start", { body: { transport: "websocket" } });
  const first = await startOne();
  for (let at = 1; at < 1_000; at += 1) assert.equal((await startOne()).status, 200);
  const refused = await startOne();
  assertRefused(refused, "TOO_MANY_SESSIONS");
  assert.equal(refused.headers["retry-after"], "1");
  using client = await openSocket(first.json().wsUrl);
  client.socket.close();
  await until(async () => (await startOne()).status === 200, 15_000, "room for another");
});
