// The hosted service with bots in containers: deploying images, calls, crashes, redeploying and rolling back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { commitBot, loadBotImage } from "../../testing/bot-image.ts";
import { startContainerEngine } from "../../testing/container-engine.ts";
import { until } from "../../testing/wait.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { openCall } from "./hosted-calls.ts";

const botSaying = (version: string): string => `
import { app } from "vocalhost/runner";
app.get("/version", async () => ({ version: ${JSON.stringify(version)}, key: process.env.KEY }));
export async function bot({ signal }) {
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
`;

test("images are deployed, called, replaced under a call and rolled back, whoever dies meanwhile", async () => {
  await using engine = await startContainerEngine();
  const base = await loadBotImage(engine.docker);
  const tag = async (version: string): Promise<void> => {
    const image = engine.docker.getImage(await commitBot(engine.docker, base, botSaying(version)));
    await image.tag({ repo: "localhost/team/bot", tag: "1" });
  };
  await tag("one");
  await using service = await startServiceProcess({
    environment: {
      VOCALHOST_DRIVER: "container",
      VOCALHOST_CONTAINER_ENGINE: `unix://${engine.socket}`,
      VOCALHOST_CONTAINER_NETWORK: engine.network,
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
  await service.replaceController();
  await engine.kill();
  assert.equal(await versionIn(service, call.sessionId), "one");
  await engine.start();
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
  await service.stop();
  assert.equal(await running(), 0);
});

async function active(service: ServiceProcess): Promise<{ id: string; digest: string | undefined }> {
  return until(
    async () => {
      const { ready, available, errors, deployment } = await service.api.agents.get("bot");
      if (errors?.length) throw new Error(JSON.stringify(errors));
      if (!ready || !available || !deployment) return undefined;
      return { id: deployment.id, digest: deployment.manifest.spec.imageDigest };
    },
    60_000,
    "active deployment",
  );
}

async function versionIn(service: ServiceProcess, sessionId: string): Promise<string> {
  const answer = await fetch(`${service.apiUrl}/public/bot/sessions/${sessionId}/version`, {
    headers: { authorization: `Bearer ${service.publicKey}` },
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return (JSON.parse(text) as { version: string }).version;
}
