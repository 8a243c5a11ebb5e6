import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startFakeService, type FakeAnswer, type FakeService } from "../testing/fake-service.ts";
import { startVocalhostAt, type FinishedProgram } from "../testing/run-vocalhost.ts";

const folder = mkdtempSync(join(tmpdir(), "vocalhost-interrupted-"));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, "bot.ts"), "export async function bot() {}");

const ID = "11111111-1111-4111-8111-111111111111";
const TIME = "2026-11-15T12:00:00.000Z";
const BUILD = {
  ...{
    id: ID,
    organizationId: "org",
    status: "building",
    region: "us-west",
    contextHash: "0",
    dockerfilePath: "Dockerfile",
  },
  ...{ imageUri: null, logsUrl: null, errorMessage: null, contextSizeBytes: 1, imageSizeBytes: null },
  ...{ buildDurationSeconds: null, startedAt: TIME, completedAt: null, createdAt: TIME, updatedAt: TIME },
};
const AGENT = {
  ...{ name: "my-bot", region: "us-west", ready: false, available: false, createdAt: TIME, updatedAt: TIME },
  ...{
    desiredDeploymentId: ID,
    activeDeploymentId: ID,
    reconciledDeploymentId: null,
    activeDeploymentReady: false,
  },
  ...{ autoScaling: { minReplicas: 0, maxReplicas: 50 }, activeSessionCount: 0, agentProfile: "agent-1x" },
  ...{ vendorViva: { audioFilter: null }, deployment: null, errors: [], conditions: [] },
  currentRevision: { deploymentID: ID, phase: "Validating", readyReplicas: 0, phaseStartedAt: TIME },
};
const SETTINGS = {
  ...{
    image: "",
    buildId: ID,
    agentProfile: "agent-1x",
    audioFilter: null,
    maxSessionDuration: 7200,
  },
  ...{ secretSet: null, secretVersion: null, imagePullSecretSet: null, websocketAuth: "token" },
};
const MANIFEST = {
  ...{ apiVersion: "v1", kind: "Agent", metadata: { name: "my-bot", namespace: "main" } },
  spec: {
    ...{ nodeType: "arm", image: "", autoScaling: { minReplicas: 0, maxReplicas: 50 } },
    resources: { cpu: "500m", memory: "1Gi" },
  },
};
const UPLOAD_PATH = "/v1/builds/uploads/x";

let isCreated = false;
const answers: Record<string, FakeAnswer | ((body: string, url: string) => FakeAnswer)> = {
  "GET /v1/agents/my-bot": () =>
    isCreated ? { body: AGENT } : { status: 404, body: { error: "Not found", code: "NOT_FOUND" } },
  "GET /v1/builds": { body: { builds: [], total: 0, limit: 10, offset: 0 } },
  "POST /v1/builds/upload-url": (_body, url) => ({
    body: { uploadId: ID, uploadUrl: `${url}${UPLOAD_PATH}`, uploadFields: { Policy: "p" }, expiresAt: TIME },
  }),
  [`POST ${UPLOAD_PATH}`]: { status: 200, body: {} },
  "POST /v1/builds": { status: 201, body: { build: BUILD, contextHash: "0", cached: false } },
  [`GET /v1/builds/${ID}`]: { body: { build: BUILD } },
  [`GET /v1/builds/${ID}/logs`]: { body: { logs: ["Unpacked 1 entries"] } },
};
const built = { [`GET /v1/builds/${ID}`]: { body: { build: { ...BUILD, status: "success" } } } };

/** Deploys, presses Ctrl-C once the service is asked for `moment`, and gives what was said. */
function interrupt(service: FakeService, moment: string, ...words: string[]): Promise<FinishedProgram> {
  return interruptCommand(service, moment, "deploy", "my-bot", ...words);
}

async function interruptCommand(
  service: FakeService,
  moment: string,
  ...words: string[]
): Promise<FinishedProgram> {
  const environment = {
    VOCALHOST_API_URL: service.url,
    VOCALHOST_API_KEY: "sk_test",
    XDG_CONFIG_HOME: folder,
  };
  const { child, finished } = startVocalhostAt({ folder, environment }, ...words, "--yes");
  await Promise.race([service.asked(moment), finished]);
  child.kill("SIGINT");
  return finished;
}

test("during the upload nothing was built", async () => {
  isCreated = false;
  await using service = await startFakeService({ ...answers, [`POST ${UPLOAD_PATH}`]: "never" });
  const { exitCode, errors } = await interrupt(service, `POST ${UPLOAD_PATH}`);
  assert.match(errors, /Interrupted\. Nothing was built and nothing was deployed\./);
  assert.equal(exitCode, 130);
  assert.ok(!service.requests.includes("POST /v1/builds"));
});

test("during the build the build goes on, and can be deployed later", async () => {
  isCreated = false;
  await using service = await startFakeService(answers);
  const { exitCode, errors } = await interrupt(service, `GET /v1/builds/${ID}/logs`);
  assert.match(errors, new RegExp(`Nothing was deployed\\. Build ${ID} continues.*--build-id ${ID}`));
  assert.equal(exitCode, 130);
  assert.ok(!service.requests.includes("POST /v1/agents"));
});

test("while the service is told, the answer is waited for: it is known what was done", async () => {
  isCreated = false;
  const told = Promise.withResolvers<void>();
  await using service = await startFakeService({
    ...answers,
    ...built,
    "POST /v1/agents": () => {
      isCreated = true;
      told.resolve();
      return { body: AGENT };
    },
  });
  const { exitCode, errors } = await interrupt(service, "POST /v1/agents");
  await told.promise;
  assert.match(errors, /Interrupted\. Deployment 11111111 keeps rolling out on the service/);
  assert.equal(exitCode, 130);
});

test("during the rollout only the watching ends; with --json the same as an object", async () => {
  isCreated = true;
  await using service = await startFakeService({
    ...answers,
    ...built,
    "POST /v1/agents/my-bot": { body: AGENT },
  });
  const { exitCode, output } = await interrupt(service, "POST /v1/agents/my-bot", "--json");
  const { ok, problem } = JSON.parse(output) as { ok: boolean; problem: { code: string; message: string } };
  assert.deepEqual([exitCode, ok, problem.code], [130, false, "interrupted"]);
  assert.match(problem.message, /vocalhost agent status my-bot/);
});

test("a rollback goes on at the service", async () => {
  isCreated = true;
  const before = {
    ...{ id: ID.replaceAll("1", "2"), manifest: MANIFEST, settings: SETTINGS, failure: null },
    ...{ createdAt: TIME, updatedAt: TIME, phase: "Retired" },
  };
  await using service = await startFakeService({
    ...answers,
    "GET /v1/agents/my-bot/deployments": {
      body: { deployments: [{ ...before, id: ID, phase: "Active" }, before] },
    },
    "POST /v1/agents/my-bot/rollback": (body) => {
      assert.deepEqual(JSON.parse(body), { deploymentId: before.id });
      return { body: AGENT };
    },
  });
  const asked = "POST /v1/agents/my-bot/rollback";
  const { exitCode, errors } = await interruptCommand(service, asked, "agent", "rollback", "my-bot");
  assert.match(errors, /Interrupted\. Deployment 11111111 keeps rolling out/);
  assert.equal(exitCode, 130);
});

test("a build that fails shows the end of its log", async () => {
  isCreated = false;
  const failed = { ...BUILD, status: "failed", errorMessage: "No bot found" };
  await using service = await startFakeService({
    ...answers,
    [`GET /v1/builds/${ID}`]: { body: { build: failed } },
  });
  const environment = {
    VOCALHOST_API_URL: service.url,
    VOCALHOST_API_KEY: "sk_test",
    XDG_CONFIG_HOME: folder,
  };
  const { finished } = startVocalhostAt({ folder, environment }, "deploy", "my-bot", "--yes");
  const { exitCode, errors } = await finished;
  assert.match(
    errors,
    /Build 11111111 failed, nothing was deployed\n {2}No bot found\n {2}Unpacked 1 entries\n.*vocalhost build logs/,
  );
  assert.equal(exitCode, 1);
});

test("a service that is of another kind, or broken, is told apart", async () => {
  const table: [FakeAnswer, RegExp][] = [
    [{ body: { hello: "world" } }, /with something unexpected.*Is this the address of the API\?/s],
    [
      { status: 500, body: { error: "Internal server error", code: "INTERNAL_SERVER_ERROR" } },
      /The service failed.*vocalhost doctor/s,
    ],
    [
      { status: 403, body: { error: "Access denied", code: "ACCESS_DENIED" } },
      /You are not allowed to do this.*vocalhost auth whoami/s,
    ],
  ];
  for (const [answer, text] of table) {
    await using service = await startFakeService({ "GET /v1/agents": answer });
    const environment = {
      VOCALHOST_API_URL: service.url,
      VOCALHOST_API_KEY: "sk_test",
      XDG_CONFIG_HOME: folder,
    };
    const { exitCode, errors } = await startVocalhostAt({ folder, environment }, "agent", "list").finished;
    assert.match(errors, text);
    assert.equal(exitCode, 1);
  }
});
