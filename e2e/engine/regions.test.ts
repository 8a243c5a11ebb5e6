// One agent in two regions: starts by region, what happens when one of them is gone, and whose secrets they see.
import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { commitBot, loadBotImage } from "../../testing/bot-image.ts";
import { startContainerEngine } from "../../testing/container-engine.ts";
import { size } from "../../testing/sizes.ts";
import { eventually } from "../../testing/wait.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { openCall, start, type StartOptions } from "../hosted/hosted-calls.ts";

const BOT = `
import { app } from "vocalhost/runner";
app.get("/key", async () => ({ key: process.env.KEY }));
export async function bot({ signal }) {
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
`;
const NAME = "parrot";
const [WEST, NORTH] = ["us-west", "eu-north"];
const TIMING = { idleInstanceMs: 500, demandMs: 500 }; // nothing stays warm that no session keeps

interface Place {
  sessionId: string;
  region: string | null;
  reason: string | null;
}

async function startIn(service: ServiceProcess, options: StartOptions = {}): Promise<Place> {
  const answer = await start(service, NAME, { transport: "webrtc", ...options });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  const { sessionId } = JSON.parse(text) as { sessionId: string };
  const region = answer.headers.get("x-vocalhost-region");
  const reason = answer.headers.get("x-vocalhost-region-reason");
  const record = await service.api.sessions.get(NAME, sessionId);
  assert.deepEqual([record.region, record.regionReason], [region, reason], "header and record agree");
  return { sessionId, region, reason };
}

/** Returns the environment of the bot of this session, through the gateway. */
async function keyIn(service: ServiceProcess, sessionId: string): Promise<string | undefined> {
  const answer = await fetch(`${service.apiUrl}/public/${NAME}/sessions/${sessionId}/key`, {
    headers: { authorization: `Bearer ${service.publicKey}` },
  });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { key?: string }).key;
}

/** The agent in one more region, with a secret set of that region that is called like it. */
async function deployIn(
  { api }: ServiceProcess,
  region: string,
  agent: { buildId: string } | { image: string },
  autoScaling: { minAgents: number; maxAgents: number },
): Promise<void> {
  const secrets = [{ secretKey: "KEY", secretValue: `of ${region}` }];
  await api.secrets.put(region, { isImagePullSecret: false, secrets, region });
  await eventually({
    what: `secrets of ${region}`,
    look: () => api.secrets.get(region),
    until: ({ status }) => status === "ready",
  });
  await api.agents.create({ serviceName: NAME, region, secretSet: region, autoScaling, ...agent });
  await eventually({
    what: `the agent in ${region}`,
    look: () => api.agents.get(NAME, { region }),
    until: ({ ready, available, errors = [] }) => (ready && available) || errors.length > 0,
  });
}

async function untilRegion(service: ServiceProcess, code: string, status: "up" | "down"): Promise<void> {
  await eventually({
    what: `${code} is ${status}`,
    look: async () => (await service.api.regions()).regions.find((region) => region.code === code)?.status,
    until: (seen) => seen === status,
  });
}

/** Nothing waits there that could take a session although its region is gone, or keeps a place while it cannot be ended. */
async function untilIdle(service: ServiceProcess, region: string): Promise<void> {
  await eventually({
    what: `nothing warm in ${region}`,
    look: async () => (await service.api.agents.pool(NAME, { region })).counts,
    until: ({ warm, starting, draining }) => warm + starting + draining === 0,
  });
}

test("an agent in two regions is started where its caller is, and elsewhere when that is gone or full", async () => {
  await using service = await startServiceProcess({
    environment: {
      VOCALHOST_REGIONS: `${WEST}=Oregon; ${NORTH}=Stockholm; eu-central=Frankfurt`,
      VOCALHOST_NEAREST_REGIONS: `eu-central: ${NORTH}`,
      VOCALHOST_DRIVER__EU_NORTH: "process",
      VOCALHOST_METRICS_TOKEN: "let-me-look",
    },
    timing: TIMING,
  });
  const { api } = service;
  const builds = {
    west: await service.build({ "bot.ts": BOT }, WEST),
    north: await service.build({ "bot.ts": BOT }, NORTH),
  };
  await deployIn(service, WEST, { buildId: builds.west }, { minAgents: 1, maxAgents: 2 });
  await deployIn(service, NORTH, { buildId: builds.north }, { minAgents: 0, maxAgents: 4 });
  await assert.rejects(
    api.agents.update(NAME, { region: NORTH, secretSet: WEST }),
    /Secret set 'us-west' is in region 'us-west' but service is in region 'eu-north'/,
  );
  await assert.rejects(
    api.agents.update(NAME, { region: NORTH, buildId: builds.west }),
    /Build is in region/,
  );

  const own = await startIn(service);
  assert.deepEqual([own.region, own.reason], [WEST, "own"]);
  assert.equal(await keyIn(service, own.sessionId), "of us-west");
  const asked = await startIn(service, { region: NORTH });
  assert.deepEqual([asked.region, asked.reason], [NORTH, "requested"]);
  assert.equal(await keyIn(service, asked.sessionId), "of eu-north");
  const near = await startIn(service, { headers: { "x-vocalhost-region": "eu-central" } });
  assert.deepEqual([near.region, near.reason], [NORTH, "nearest;eu-central=absent"]);

  // As if the disk with its instances had been taken away: its driver cannot say any more what is there.
  const instances = join(service.dataFolder, "regions", NORTH, "instances");
  await untilIdle(service, NORTH);
  await rename(instances, `${instances}.gone`);
  await untilRegion(service, NORTH, "down");
  const elsewhere = await startIn(service, { region: NORTH });
  assert.deepEqual([elsewhere.region, elsewhere.reason], [WEST, "nearest;eu-north=down"]);
  const stays = await start(service, NAME, { transport: "webrtc", region: NORTH, stayInRegion: true });
  assert.equal(stays.status, 503);
  const { error, code } = (await stays.json()) as Record<string, string>;
  assert.deepEqual([code, error], ["REGION_DOWN", "The region 'eu-north' is down"]);
  assert.equal(await keyIn(service, asked.sessionId), "of eu-north", "calls that are there go on");

  await rename(`${instances}.gone`, instances);
  await untilRegion(service, NORTH, "up");
  const full = await startIn(service);
  assert.deepEqual([full.region, full.reason], [NORTH, "nearest;us-west=full"]);
  const figures = await fetch(`${service.apiUrl.replace(/\/v1$/, "")}/metrics`, {
    headers: { authorization: "Bearer let-me-look" },
  }).then((answer) => answer.text());
  for (const place of [
    'from="eu-central",why="absent",to="eu-north"',
    'from="eu-north",why="down",to="us-west"',
    'from="us-west",why="full",to="eu-north"',
  ])
    assert.ok(figures.includes(`vocalhost_starts_elsewhere_total{${place}} 1\n`), figures);
  const { sessions } = await api.sessions.list(NAME, { status: "active" });
  assert.deepEqual(sessions.map(({ region }) => `${region}`).toSorted(), [NORTH, NORTH, NORTH, WEST, WEST]);
  for (const { sessionId } of [own, asked, near, elsewhere, full]) await api.sessions.stop(NAME, sessionId);
  for (const { sessionId } of [own, asked, near, elsewhere, full])
    assert.equal(await service.sessionEnded(sessionId, 60_000), "stopped");
});

if (size(false, true))
  test("containers in one region and processes in the other: the engine dies, starts go on", async () => {
    await using engine = await startContainerEngine();
    const base = await loadBotImage(engine.docker);
    const image = engine.docker.getImage(await commitBot(engine.docker, base, BOT));
    await image.tag({ repo: "localhost/team/bot", tag: "1" });
    await using service = await startServiceProcess({
      environment: {
        VOCALHOST_REGIONS: `${NORTH}=Containers; ${WEST}=Processes`,
        VOCALHOST_DRIVER__EU_NORTH: "container",
        VOCALHOST_CONTAINER_ENGINE__EU_NORTH: `unix://${engine.socket}`,
        VOCALHOST_CONTAINER_NETWORK__EU_NORTH: engine.network,
        VOCALHOST_REGISTRIES: "localhost",
      },
      timing: TIMING,
    });
    await deployIn(service, NORTH, { image: "localhost/team/bot:1" }, { minAgents: 0, maxAgents: 3 });
    const buildId = await service.build({ "bot.ts": BOT }, WEST);
    await deployIn(service, WEST, { buildId }, { minAgents: 1, maxAgents: 3 });

    const own = await startIn(service);
    assert.deepEqual([own.region, own.reason], [NORTH, "own"]);
    assert.equal(await keyIn(service, own.sessionId), "of eu-north");
    await untilIdle(service, NORTH);
    await engine.kill();
    await untilRegion(service, NORTH, "down");
    const elsewhere = await startIn(service);
    assert.deepEqual([elsewhere.region, elsewhere.reason], [WEST, "nearest;eu-north=down"]);
    assert.equal(await keyIn(service, elsewhere.sessionId), "of us-west");
    const call = await openCall(service, NAME, { region: NORTH });
    const record = await service.api.sessions.get(NAME, call.sessionId);
    assert.deepEqual([record.region, record.regionReason], [WEST, "nearest;eu-north=down"]);
    call.socket.socket.close();
    await engine.start();
    await untilRegion(service, NORTH, "up");
    const again = await startIn(service, { region: NORTH });
    assert.deepEqual([again.region, again.reason], [NORTH, "requested"]);
    assert.equal(await keyIn(service, again.sessionId), "of eu-north");
  });
