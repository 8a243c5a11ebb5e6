// The hosted service with bots in containers: deploying images, calls, crashes, redeploying and rolling back.
import { dispose } from "@livekit/rtc-node";
import type { RoomStarted } from "@vocalhost/protocol";
import { createSpeechLike } from "@vocalhost/simulator";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { commitBot, loadBotImage } from "../../testing/bot-image.ts";
import { startContainerEngine } from "../../testing/container-engine.ts";
import { eventually, until } from "../../testing/wait.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { botHeard } from "../realtime/rooms/bot-heard.ts";
import { joinFromNode } from "../realtime/rooms/node-attendee.ts";
import { isQuiet } from "../telephony/sound.ts";
import { dial } from "../telephony/telephone.ts";
import { openCall, prepareCall, start } from "../hosted/hosted-calls.ts";

const TONE_HZ = 440;

const botSaying = (version: string): string => `
import { createTransport } from "vocalhost";
import { app } from "vocalhost/runner";
app.get("/version", async () => ({ version: ${JSON.stringify(version)}, key: process.env.KEY }));
export async function bot(args) {
  const { kind, body, signal } = args;
  if (kind === "room" || body?.isOnThePhone) {
    const transport = await createTransport(args);
    for await (const frame of transport.audioIn) transport.audioOut.write(frame);
    return;
  }
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
`;

after(() => dispose()); // or rtc-node keeps the process

// Two regions: one of containers, one of processes beside them.
test("images are deployed, called, replaced under a call and rolled back, whichever process dies meanwhile", async () => {
  await using engine = await startContainerEngine();
  const base = await loadBotImage(engine.docker, { hasRooms: true });
  const tag = async (version: string): Promise<void> => {
    const image = engine.docker.getImage(await commitBot(engine.docker, base, botSaying(version)));
    await image.tag({ repo: "localhost/team/bot", tag: "1" });
  };
  await tag("one");
  await using service = await startServiceProcess({
    environment: {
      VOCALHOST_REGIONS: "in-containers=Containers; on-machine=Processes",
      VOCALHOST_DRIVER__IN_CONTAINERS: "container",
      VOCALHOST_CONTAINER_ENGINE__IN_CONTAINERS: `unix://${engine.socket}`,
      VOCALHOST_CONTAINER_NETWORK__IN_CONTAINERS: engine.network,
      VOCALHOST_REGISTRIES: "localhost",
    },
    timing: { heartbeatMs: 1_000, idleInstanceMs: 600_000 },
  });
  const running = async (): Promise<number> => (await engine.docker.listContainers()).length;
  await service.api.agents.create({
    serviceName: "bot",
    image: "localhost/team/bot:1",
    autoScaling: { minAgents: 1, maxAgents: 5 },
  });
  const first = await active(service);

  const call = await openCall(service, "bot");
  assert.equal(await versionIn(service, call.sessionId), "one");
  await besideThem(service);
  await service.replaceController();
  await engine.kill();
  assert.equal(await versionIn(service, call.sessionId), "one");
  await eventually({
    what: "the region is down",
    look: () => regionStates(service),
    until: (states) => states["in-containers"] === "down" && states["on-machine"] === "up",
  });
  const beside = await openCall(service, "beside");
  assert.equal(await versionIn(service, beside.sessionId, "beside"), "three", "not disturbed");
  beside.socket.socket.close();
  await engine.start();
  await eventually({
    what: "the region is back",
    look: () => regionStates(service),
    until: (states) => states["in-containers"] === "up",
  });
  // Adopted, not made again: the busy one and a warm one.
  await until(async () => (await running()) === 2, 60_000, "pool");

  await service.api.agents.update("bot", { image: "localhost/team/none:1" });
  const { errors } = await until(
    async () => {
      const record = await service.api.agents.get("bot");
      return record.errors?.length ? record : undefined;
    },
    30_000,
    "refusal",
  );
  assert.equal(errors?.[0]?.code, "IMAGE_NOT_FOUND");
  assert.match(errors?.[0]?.message ?? "", /^No image localhost\/team\/none:1 was loaded/);
  const meanwhile = await openCall(service, "bot");
  assert.equal(await versionIn(service, meanwhile.sessionId), "one");

  await tag("two");
  await service.api.agents.update("bot", { image: "localhost/team/bot:1", forceRedeploy: true });
  const second = await active(service);
  assert.notEqual(second.digest, first.digest);
  const newer = await openCall(service, "bot");
  assert.equal(await versionIn(service, newer.sessionId), "two");
  assert.equal(await versionIn(service, call.sessionId), "one", "the call under which it was replaced");

  await service.api.agents.rollback("bot", first.id);
  assert.equal((await active(service)).digest, first.digest);
  const older = await openCall(service, "bot");
  assert.equal(await versionIn(service, older.sessionId), "one");

  for (const { socket } of [call, meanwhile, newer, older]) socket.socket.close();
  for (const { sessionId } of [call, meanwhile, newer, older])
    assert.equal(await service.sessionEnded(sessionId, 60_000), "client-left");
  await talkInRoom(service);
  await talkOnThePhone(service);
  await service.stop();
  assert.equal(await running(), 0);
});

/** A carrier dials in, and its socket leads into a container. */
async function talkOnThePhone(service: ServiceProcess): Promise<void> {
  const { wsUrl, token, sessionId } = await until(
    () =>
      prepareCall(service, "bot", { transport: "twilio", body: { isOnThePhone: true } }).catch(
        () => undefined,
      ),
    60_000,
    "start on the phone",
  );
  const call = dial({
    carrier: { name: "twilio" },
    url: `${wsUrl}/${token}`,
    sentences: [createSpeechLike()],
    hangUpAfterAnswerMs: 400,
    line: { maxCallMs: 30_000 },
  });
  const { outcome, heard } = await call.ended();
  assert.deepEqual(outcome, { type: "hung-up", by: "caller", reason: "asked" });
  assert.ok(!isQuiet(heard, 0, 20_000), "the bot was heard");
  assert.equal(await service.sessionEnded(sessionId, 60_000), "client-left");
}

/** With a bot under the network policy, which reaches our own room server and nothing else of this machine. */
async function talkInRoom(service: ServiceProcess): Promise<void> {
  // The instances of the calls are still being replaced.
  const answer = await until(
    async () => {
      const started = await start(service, "bot", { transport: "room" });
      return started.ok && started;
    },
    60_000,
    "start in a room",
  );
  const { sessionId, roomUrl, token } = (await answer.json()) as RoomStarted;
  const attendee = await joinFromNode({ url: roomUrl, token, identity: "client", toneHz: TONE_HZ });
  await attendee.speak();
  await botHeard(attendee, TONE_HZ);
  await attendee.leave();
  assert.equal(await service.sessionEnded(sessionId, 60_000), "client-left");
}

/** An agent of the other region, with secrets of its own. */
async function besideThem(service: ServiceProcess): Promise<void> {
  await service.api.secrets.put("keys", {
    isImagePullSecret: false,
    secrets: [{ secretKey: "KEY", secretValue: "hush" }],
    region: "on-machine",
  });
  await assert.rejects(
    service.api.agents.update("bot", { image: "localhost/team/bot:1", secretSet: "keys" }),
    /is in region 'on-machine' but service/,
  );
  const buildId = await service.build({ "bot.ts": botSaying("three") }, "on-machine");
  await service.api.agents.create({
    serviceName: "beside",
    buildId,
    region: "on-machine",
    secretSet: "keys",
    autoScaling: { minAgents: 1, maxAgents: 2 },
  });
  await until(async () => (await service.api.agents.get("beside")).available, 60_000, "agent beside");
}

async function regionStates(service: ServiceProcess): Promise<Record<string, string | undefined>> {
  const { regions } = await service.api.regions();
  return Object.fromEntries(regions.map(({ code, status }) => [code, status]));
}

async function active(service: ServiceProcess): Promise<{ id: string; digest: string | undefined }> {
  const { deployment } = await service.ready(
    "bot",
    (record) => record.available && record.deployment !== undefined,
  );
  assert.ok(deployment);
  return { id: deployment.id, digest: deployment.manifest.spec.imageDigest };
}

async function versionIn(service: ServiceProcess, sessionId: string, agent = "bot"): Promise<string> {
  const answer = await fetch(`${service.apiUrl}/public/${agent}/sessions/${sessionId}/version`, {
    headers: { authorization: `Bearer ${service.publicKey}` },
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return (JSON.parse(text) as { version: string }).version;
}
