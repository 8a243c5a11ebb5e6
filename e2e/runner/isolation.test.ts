import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { callBot, freePeerClients, type PeerClient, type PeerClientOptions } from "../harness/peer-client.ts";
import { patientMs } from "../../testing/patience.ts";
import { isAlive, processFigures } from "../harness/process-figures.ts";
import { call } from "../harness/raw-http.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket, type SocketClient } from "../harness/socket-client.ts";
import { keepTalking } from "../harness/talk.ts";
import { pause, until } from "../../testing/wait.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/unruly-bot.ts" });
const { port } = runner;
const pid = runner.process.pid!;
const LONGEST_GAP_MS = 500; // what the bad bots do to the thread lasts 120 ms at a time
const HEAP_GROWTH_MAX_MIB = 10;
const GROWTH_MAX_MIB = 250; // the heap tells what is kept; what the allocator holds back depends on the machine

let healthySocket: SocketClient;
let healthyPeer: PeerClient;
let stopTalking: () => Promise<number>;
let stopSpeaking: () => Promise<number>;
let rssMib = 0;
let heapMib = 0;

before(async () => {
  healthySocket = (await start("echo", "websocket")).client as SocketClient;
  healthyPeer = (await start("echo", "webrtc")).client as PeerClient;
  const [socketDone, peerDone] = [keepTalking(healthySocket), keepSpeaking(healthyPeer)];
  await until(() => healthySocket.heardMs > 1_000 && healthyPeer.heard.voiced > 50, 15_000, "echo");
  const [talkedMs] = await Promise.all([socketDone(), peerDone()]);
  await until(() => healthySocket.heardMs >= talkedMs, 15_000, "the rest of the echo");
  ({ heapMib } = (await call(port, "GET /figures")).json());
  ({ rssMib } = processFigures(pid));
  healthySocket.restart();
  healthyPeer.heard.restart();
  stopTalking = keepTalking(healthySocket);
  stopSpeaking = keepSpeaking(healthyPeer);
});

after(async () => {
  healthyPeer.close();
  await runner[Symbol.asyncDispose]();
  freePeerClients();
});

interface Started {
  id: string;
  client: SocketClient | PeerClient;
  leave(): void;
}

async function start(
  mode: string,
  transport: "websocket" | "webrtc",
  peer: PeerClientOptions = {},
): Promise<Started> {
  const answer = await call(port, "POST /start", { body: { transport, body: { mode } } });
  const id = answer.headers["x-vocalhost-session-id"]!;
  if (transport === "websocket") {
    const client = await openSocket(answer.json().wsUrl);
    return { id, client, leave: () => client.socket.close() };
  }
  const client = await callBot({ port, path: `/sessions/${id}/api/offer`, peer });
  return { id, client, leave: () => client.close() };
}

/** Speaks in pieces until told to stop; gives the packets it has sent. */
function keepSpeaking(peer: PeerClient): () => Promise<number> {
  let stopped = false;
  async function speak(): Promise<number> {
    let packets = 0;
    for (; !stopped; packets += 25) await peer.speak(25, "tone");
    return packets;
  }
  const speaking = speak();
  return () => {
    stopped = true;
    return speaking;
  };
}

async function endsWith(reason: string, { id }: Started, timeoutMs = 20_000): Promise<void> {
  await runner.printed(new RegExp(`session ended session=${id.slice(0, 8)} reason=${reason}\\b`), timeoutMs);
}

function send(client: SocketClient | PeerClient, message: unknown): void {
  if ("sendMessage" in client) client.sendMessage(message);
  else client.sendText(JSON.stringify(message));
}

async function toldOfTheEnd({ texts }: PeerClient): Promise<void> {
  await until(() => texts.some((text) => text.includes("peerLeft")), 15_000, "peerLeft");
}

// Side by side: they mostly wait.
describe("bad sessions", { concurrency: 2 }, () => {
  for (const transport of ["websocket", "webrtc"] as const)
    describe(`a bad ${transport} session`, () => {
      for (const [mode, error] of [
        ["throws at once", "thrown at once"],
        ["throws in a timer", "thrown in a timer"],
        ["forgets a rejection", "forgotten"],
        ["throws in a listener", "thrown in a listener"],
        ["rejects in a listener", "rejected in a listener"],
      ] as const)
        test(`${transport}: ${mode}: only it ends, and the log says why`, async () => {
          const bad = await start(mode, transport);
          if (mode.includes("listener")) send(bad.client, { hello: "listener" });
          await endsWith("bot-failed", bad);
          await runner.printed(
            new RegExp(`error bot failed session=${bad.id.slice(0, 8)}\\n(?:\\w+)?Error: ${error}`),
          );
          if ("closed" in bad.client) assert.equal((await bad.client.closed()).code, 1011);
          else await toldOfTheEnd(bad.client);
          bad.leave();
        });

      if (transport === "webrtc")
        test("webrtc: fails before the data channel is open: the client is told once it is", async () => {
          const bad = await start("throws when connected", transport, { opensNoChannel: true });
          const client = bad.client as PeerClient;
          await runner.printed(new RegExp(`error bot failed session=${bad.id.slice(0, 8)}`));
          client.openChannel("chat");
          await toldOfTheEnd(client);
          await endsWith("bot-failed", bad);
          bad.leave();
        });

      test(`${transport}: hangs: it is left behind`, async () => {
        const bad = await start("hangs", transport);
        bad.leave();
        await endsWith("client-left", bad);
        assert.match(
          runner.output(),
          new RegExp(`bot did not return when its signal aborted, abandoned session=${bad.id.slice(0, 8)}`),
        );
      });

      test(`${transport}: floods audio: what does not fit is dropped`, async () => {
        const bad = await start("floods audio", transport);
        const told = (): string | undefined =>
          "texts" in bad.client
            ? bad.client.texts.find((text) => text.includes("queuedMs"))
            : JSON.stringify(
                bad.client.messages.find(
                  ({ data }) => data && typeof data === "object" && "queuedMs" in data,
                ),
              );
        const { data } = JSON.parse(await until(told, 15_000, "figures of the bot"));
        assert.ok(data.queuedMs <= 60_000 && data.droppedMs >= 539_000, JSON.stringify(data));
        await pause(500);
        bad.leave();
        await endsWith("client-left", bad);
      });

      test(`${transport}: never reads what it hears`, async () => {
        const bad = await start("deaf", transport);
        if ("speak" in bad.client) await bad.client.speak(50, "tone");
        else for (let at = 0; at < 5_000; at += 1) bad.client.sendAudio(new Int16Array(320));
        bad.leave();
        await endsWith("client-left", bad);
      });

      test(`${transport}: talks very much: the client hears it all, or is given up`, async () => {
        const bad = await start("talks when told", transport);
        send(bad.client, { go: true });
        const heard = (): number => ("texts" in bad.client ? bad.client.texts : bad.client.messages).length;
        const lost = new RegExp(`session ended session=${bad.id.slice(0, 8)} reason=client-lost`);
        await until(() => heard() >= 100_000 || lost.test(runner.output()), 60_000, "talk");
        bad.leave();
        await endsWith("client-(?:left|lost)", bad);
      });

      test(`${transport}: blocks the thread again and again`, async () => {
        const bad = await start("blocks the thread", transport);
        await endsWith("bot-finished", bad);
        bad.leave();
      });
    });
});

test("a client that does not listen is given up", async () => {
  const bad = await start("talks when told", "websocket");
  const client = bad.client as SocketClient;
  client.socket.pause();
  client.sendMessage({ go: true });
  await endsWith("client-lost", bad);
  assert.match(runner.output(), /client does not read, closing/);
  bad.leave();
});

test("the healthy sessions have lost nothing", async () => {
  const [talkedMs, spoken] = await Promise.all([stopTalking(), stopSpeaking()]);
  await until(() => healthySocket.heardMs >= talkedMs - 200, 30_000, "the rest of the echo");
  assert.ok(healthySocket.heardMs >= talkedMs - 200, `${healthySocket.heardMs} of ${talkedMs} ms heard`);
  assert.ok(
    healthySocket.longestGapMs < patientMs(LONGEST_GAP_MS),
    `a gap of ${healthySocket.longestGapMs} ms`,
  );
  await until(() => healthyPeer.heard.voiced >= spoken * 0.99 - 10, 30_000, "the rest of the echo");
  assert.equal(healthyPeer.heard.missing, 0, "packets were lost");
  assert.ok(
    healthyPeer.heard.longestGapMs < patientMs(LONGEST_GAP_MS),
    `a gap of ${healthyPeer.heard.longestGapMs} ms`,
  );
  assert.equal(healthySocket.socket.readyState, healthySocket.socket.OPEN);
});

test("nothing of the bad ones is left", async () => {
  assert.ok(isAlive(pid));
  const figures = (await call(port, "GET /figures")).json();
  assert.equal(figures.sessions, 2);
  const heapGrownMib = figures.heapMib - heapMib;
  assert.ok(heapGrownMib < HEAP_GROWTH_MAX_MIB, `the runner's heap has grown by ${heapGrownMib} MiB`);
  const grownMib = processFigures(pid).rssMib - rssMib;
  assert.ok(grownMib < GROWTH_MAX_MIB, `the runner has grown by ${grownMib} MiB`);
});
