// A person whose connection breaks comes back by themselves, and the bot's session goes on with them.
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import type { RoomStarted } from "@vocalhost/protocol";
import { size } from "../../../testing/sizes.ts";
import { eventually, pause } from "../../../testing/wait.ts";
import { isMostly } from "../../conformance/tone.ts";
import { startRunnerProcess } from "../../harness/runner-process.ts";
import { startServiceProcess } from "../../harness/service-process.ts";
import { ECHO_BOT, start } from "../../hosted/hosted-calls.ts";
import type { BrowserAttendee } from "./browser-attendee.ts";
import { findMediaProcess } from "./media-process.ts";
import { openRoomPages, type RoomPages } from "./stage.ts";

const { LIVEKIT_URL } = process.env;
const isOurs = !LIVEKIT_URL;
const ROOMS = { VOCALHOST_ROOM_PROVIDER: isOurs ? "embedded" : "livekit" };

/** Where bots run. */
interface Host extends AsyncDisposable {
  readonly pid: number;
  start(): Promise<RoomStarted>;
  /** Why the session ended; undefined while it runs. */
  ended(sessionId: string): Promise<string | undefined>;
}

const HOSTS: Record<string, () => Promise<Host>> = { runner: openRunner, service: openService };

const ANYWHERE = ["full-reconnect", "resume-reconnect", "signal-reconnect", "reload"];
const OURS = [...ANYWHERE, "killed media process"];
const THEIRS = [...ANYWHERE, "server-leave", "leave-full-reconnect", "node-failure", "migration"];
const FAULTS = size(["full-reconnect", "reload"], isOurs ? OURS : THEIRS);

let pages: RoomPages;
before(async () => (pages = await openRoomPages()));
after(() => pages[Symbol.asyncDispose]());

for (const name of size(["runner"], ["runner", "service"])) {
  let host: Host;
  test(`a bot of the ${name}`, async (context) => {
    host = await HOSTS[name]!();
    context.after(() => host[Symbol.asyncDispose]());
    for (const fault of FAULTS)
      await context.test(`hears and is heard after ${fault}`, (subtest) =>
        comesBack(subtest, { host, fault }),
      );
    await context.test("leaves some seconds after the last person", async (subtest) => {
      const { ann, sessionId } = await talkTo(subtest, host);
      await ann.leave();
      await eventually({
        what: "the session ends",
        look: () => host.ended(sessionId),
        until: (reason) => reason === "client-left",
      });
    });
  });
}

async function comesBack(
  context: TestContext,
  { host, fault }: { host: Host; fault: string },
): Promise<void> {
  const talk = await talkTo(context, host);
  const { ann, bot, sessionId } = talk;
  const listening = listen(ann, bot);
  const brokeMs = performance.now();
  await breakDown(talk, { host, fault });
  await eventually({
    what: "the bot is heard for a while",
    async look() {
      assert.equal(await host.ended(sessionId), undefined, "the session has ended");
      return { heardForMs: listening.heardForMs(), sinceMs: performance.now() - brokeMs };
    },
    until: ({ heardForMs, sinceMs }) => heardForMs > 2_000 && sinceMs > 4_000,
    quietMs: 40_000,
  });
  listening.stop();
  context.diagnostic(`${fault}: ${listening.describe(brokeMs)}`);
}

interface Talk extends RoomStarted {
  ann: BrowserAttendee;
  bot: string;
}

async function talkTo(context: TestContext, host: Host): Promise<Talk> {
  const started = await host.start();
  const ann = await pages.join(context, { identity: "ann", url: started.roomUrl, token: started.token });
  await ann.speak();
  const bot = await eventually({
    what: "the bot is heard",
    look: async () => {
      const identity =
        (await ann.others()).find((other) => other.identity.startsWith("Bot-"))?.identity ?? "";
      return { identity, tone: await ann.hear(identity) };
    },
    until: ({ tone }) => isMostly(tone, ann.toneHz),
  });
  return { ...started, ann, bot: bot.identity };
}

async function breakDown(
  { ann, roomUrl, token }: Talk,
  { host, fault }: { host: Host; fault: string },
): Promise<void> {
  if (fault === "killed media process") return void process.kill(findMediaProcess(host.pid), "SIGKILL");
  if (fault === "reload") await ann.page.reload();
  else await ann.page.evaluate((name) => window.roomPage.room.simulateScenario(name as never), fault);
  if (fault === "server-leave")
    await eventually({
      what: "the client is told to go",
      look: () => ann.events(),
      until: (events) => events.some(({ name }) => name === "disconnected"),
    });
  else if (fault !== "reload") return;
  // The client does not come back by itself; the page does.
  await ann.page.evaluate(([url, said]) => window.roomPage.join(url, said), [roomUrl, token] as const);
  await ann.speak();
}

/** Notes when the bot's voice is heard. */
function listen(ann: BrowserAttendee, bot: string) {
  const LOOK_EVERY_MS = 50;
  let stopped = false;
  let sinceMs: number | undefined;
  const gaps: { fromMs: number; toMs: number }[] = [];
  let lostMs: number | undefined;
  void (async () => {
    while (!stopped) {
      const tone = await ann.hear(bot).catch(() => undefined); // between two pages there is none
      const nowMs = performance.now();
      if (tone && isMostly(tone, ann.toneHz)) {
        if (lostMs !== undefined) gaps.push({ fromMs: lostMs, toMs: nowMs });
        lostMs = undefined;
        sinceMs ??= nowMs;
      } else {
        sinceMs = undefined;
        lostMs ??= nowMs;
      }
      await pause(LOOK_EVERY_MS);
    }
  })();
  return {
    heardForMs: () => (sinceMs === undefined ? 0 : performance.now() - sinceMs),
    stop: () => void (stopped = true),
    describe(brokeMs: number) {
      const last = gaps.at(-1);
      if (!last) return "never silent";
      const silentMs = gaps.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
      return `heard again after ${seconds(last.toMs - brokeMs)} s, silent for ${seconds(silentMs)} s of it`;
    },
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

async function openRunner(): Promise<Host> {
  const runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts", environment: ROOMS });
  return {
    pid: runner.process.pid ?? 0,
    async start() {
      const answer = await fetch(`${runner.url}/start`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ transport: "room" }),
      });
      return (await answer.json()) as RoomStarted;
    },
    async ended(sessionId) {
      const calls = (await (await fetch(`${runner.url}/calls`)).json()) as {
        sessionId: string;
        ended: string;
      }[];
      return calls.find((call) => call.sessionId === sessionId)?.ended ?? undefined;
    },
    [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
  };
}

async function openService(): Promise<Host> {
  const service = await startServiceProcess({ timing: { heartbeatMs: 1_000 }, environment: ROOMS });
  await service.deploy({ name: "echo", files: ECHO_BOT, autoScaling: { minAgents: 1, maxAgents: 4 } });
  return {
    pid: service.process.pid ?? 0,
    start: async () => (await (await start(service, "echo", { transport: "room" })).json()) as RoomStarted,
    async ended(sessionId) {
      const [row] = service.rows<{ end_reason: string | null }>(
        "SELECT end_reason FROM sessions WHERE id = ?",
        sessionId,
      );
      return row?.end_reason ?? undefined;
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
