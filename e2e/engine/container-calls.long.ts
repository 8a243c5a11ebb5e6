// Calls with bots in containers go on when the controller is killed, and when the engine is.
import { dispose } from "@livekit/rtc-node";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, test } from "node:test";
import type { RoomStarted } from "@vocalhost/protocol";
import { commitBot, loadBotImage } from "../../testing/bot-image.ts";
import { startContainerEngine } from "../../testing/container-engine.ts";
import { eventually, until } from "../../testing/wait.ts";
import { openHostNetwork } from "../harness/host-network.ts";
import { callBot, freePeerClients } from "../harness/peer-client.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { botHeard } from "../realtime/rooms/bot-heard.ts";
import { joinFromNode } from "../realtime/rooms/node-attendee.ts";
import { openCall } from "../hosted/fault-call.ts";
import { start } from "../hosted/hosted-calls.ts";
import { echoBot } from "./hostile-bot.ts";

const CALLS = 9; // over WebSockets, one over WebRTC, and one in a room
const INSTANCES = CALLS + 2;
const TONE_HZ = 440;
const READY_MS = 90_000;
const NUMBERS = 25; // half a second of them
const PACKETS = 25;

// Numbers that come over a WebSocket it says back as they are, sound over WebRTC as any echo does.
const BOT = `
import { createTransport } from "vocalhost";
${echoBot().replace("export async function bot(", "async function sayBack(")}
export async function bot(args) {
  if (args.kind === "websocket") return sayBack(args);
  const transport = await createTransport(args);
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}
`;

after(async () => {
  freePeerClients();
  await dispose(); // or rtc-node keeps the process
});

test(`${INSTANCES} calls, woken from rest: none drops when the controller dies, nor when the engine does`, async () => {
  using network = openHostNetwork();
  await using engine = await startContainerEngine({ within: network.within });
  const image = engine.docker.getImage(
    await commitBot(engine.docker, await loadBotImage(engine.docker, { hasRooms: true }), BOT),
  );
  await image.tag({ repo: "localhost/bot", tag: "1" });
  await using service = await startServiceProcess({
    within: network.within,
    environment: {
      VOCALHOST_HOST: network.address,
      ...engine.settings,
      VOCALHOST_CONTAINER_NETWORK_POLICY: "required",
      VOCALHOST_PAUSE_BEYOND: "1",
      VOCALHOST_MEDIA_ADDRESS: network.address,
      VOCALHOST_MEDIA_PORTS: "40000-40049",
    },
    timing: { pauseAfterMs: 0, idleInstanceMs: 600_000 },
  });
  await service.api.agents.create({
    serviceName: "bot",
    image: "localhost/bot:1",
    autoScaling: { minAgents: INSTANCES, maxAgents: INSTANCES },
  });
  // All of them: not every engine lists paused ones otherwise.
  const states = async (): Promise<string[]> =>
    (await engine.docker.listContainers({ all: true })).map(({ State }) => State);
  const count = async (state: string): Promise<number> =>
    (await states()).filter((each) => each === state).length;
  for (const [state, wanted] of [
    ["ready", INSTANCES],
    ["resting", INSTANCES - 1],
  ] as const)
    await eventually({
      what: `${wanted} instances ${state}`,
      look: async () => ({ rows: instanceStates(service), containers: await states() }),
      until: ({ rows, containers: seen }) =>
        (state === "ready" ? rows : seen.filter((each) => each === "paused")).length === wanted &&
        rows.every((each) => each === "ready"),
      quietMs: READY_MS,
    });
  assert.match(
    execFileSync(network.within[0]!, [...network.within.slice(1), "nft", "list", "tables"], {
      encoding: "utf8",
    }),
    /table inet vocalhost_/,
    "a service that runs as root applies the network policy itself",
  );

  const containers = new Set((await engine.docker.listContainers({ all: true })).map(({ Id }) => Id));
  await using callers = new AsyncDisposableStack();
  const { sessionId } = await started<{ sessionId: string }>(service, "webrtc");
  const peer = callers.use(
    await callBot({
      address: network.address,
      port: Number(new URL(service.apiUrl).port),
      path: `/v1/public/bot/sessions/${sessionId}/api/offer`,
      headers: { authorization: `Bearer ${service.publicKey}`, host: new URL(service.apiUrl).host },
    }),
  );
  assert.equal(peer.route().remote.address, network.address);
  const calls = await Promise.all(
    Array.from({ length: CALLS }, async () => callers.use(await openCall(service, { agent: "bot" }))),
  );
  const inRoom = await started<RoomStarted>(service, "room");
  const attendee = await joinFromNode({
    ...{ url: inRoom.roomUrl, token: inRoom.token },
    ...{ identity: "client", toneHz: TONE_HZ },
  });
  callers.defer(() => attendee.leave());
  await attendee.speak();
  const sessionIds = [...calls.map((call) => call.sessionId), sessionId, inRoom.sessionId];

  async function goOn(): Promise<void> {
    const before = calls.map(({ echoed }) => echoed);
    const { voiced } = peer.heard;
    await peer.speak(PACKETS, "tone");
    await until(
      () => calls.every(({ echoed }, at) => echoed > before[at]! + NUMBERS) && peer.heard.voiced > voiced + 5,
      30_000,
      "calls that go on",
    );
    await botHeard(attendee, TONE_HZ);
  }

  async function adopted(): Promise<void> {
    await until(
      async () => {
        const { sessions } = await service.api.sessions.list("bot", { limit: 100, status: "active" });
        const active = sessions.filter(({ status }) => status === "active").map((each) => each.sessionId);
        return sessionIds.every((id) => active.includes(id));
      },
      20_000,
      "adopted sessions",
    );
    const now = await engine.docker.listContainers({ all: true });
    assert.deepEqual(
      now.filter(({ Id }) => !containers.has(Id)).map(({ Names, Status }) => [Names, Status]),
      [],
      "none was made anew",
    );
    assert.equal(await count("running"), INSTANCES, "all were awake");
  }

  await goOn();
  await service.replaceController();
  await goOn();
  await adopted();

  await engine.kill();
  await goOn();
  await engine.start();
  await goOn();
  await adopted();

  for (const call of calls) call.fallSilent();
  await until(() => calls.every(({ sent, echoed }) => sent === echoed), 15_000, "every number back");
  assert.deepEqual(
    calls.flatMap((call) => call.faults),
    [],
  );
  for (const call of calls) call.say("hang up");
  assert.deepEqual(new Set(await Promise.all(calls.map((call) => call.closed()))), new Set([1000]));
  peer.close();
  await attendee.leave();
  for (const call of calls)
    assert.equal(await service.sessionEnded(call.sessionId, READY_MS), "bot-finished");
  for (const id of [sessionId, inRoom.sessionId])
    assert.equal(await service.sessionEnded(id, READY_MS), "client-left");
  await service.stop();
  assert.deepEqual(
    (await states()).filter((state) => state !== "exited"),
    [],
    "nothing is left behind",
  );
});

async function started<Answer>(service: ServiceProcess, transport: string): Promise<Answer> {
  const answer = await start(service, "bot", { transport });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${text}\n${JSON.stringify(instanceStates(service))}`);
  return JSON.parse(text) as Answer;
}

function instanceStates(service: ServiceProcess): string[] {
  return service
    .rows<{ state: string }>("SELECT state FROM instances WHERE state NOT IN ('stopped', 'lost')")
    .map(({ state }) => state);
}
