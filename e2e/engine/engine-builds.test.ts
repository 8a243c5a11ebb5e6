// The hosted service with bots in containers, and the engine as the builder: the first start, then a project of
// `npm create vocalhost` from its Dockerfile to a rollback.
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { requireBaseImage } from "../../testing/base-image.ts";
import { startContainerEngine } from "../../testing/container-engine.ts";
import { vocalhost, type Desk } from "../cli/vocalhost-process.ts";
import { runProgram } from "../harness/program.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { openCall } from "../hosted/hosted-calls.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const CREATE = join(REPOSITORY, "packages/create-vocalhost/bin/create-vocalhost.js");
const AGENT = "my-bot";

test("a project is built by the engine, called, replaced under a call and rolled back", async () => {
  const { images } = await requireBaseImage();
  await using engine = await startContainerEngine();
  const root = mkdtempSync(join(tmpdir(), "engine-builds-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(root, { recursive: true, force: true }));
  const service = stack.use(
    await startServiceProcess({
      environment: {
        ...engine.settings,
        VOCALHOST_BUILD_NETWORK: "none",
      },
      timing: { idleInstanceMs: 600_000 },
      args: [
        ...["--example", `parrot=${join(REPOSITORY, "examples/parrot")}`],
        ...["--default-base-images", images.folder],
      ],
    }),
  );
  assert.match(
    service.output(),
    /Giving vocalhost\/base:\S+ to the container engine …[^]*deploying parrot …/,
  );
  const parrot = await openCall(service, "parrot");
  parrot.socket.socket.close();

  const made = await runProgram(CREATE, { args: [AGENT, "--yes", "--no-install"], workingFolder: root });
  assert.equal(made.code, 0, made.errors);
  const desk: Desk = {
    folder: join(root, AGENT),
    environment: {
      XDG_CONFIG_HOME: join(root, "config"),
      VOCALHOST_API_URL: service.apiUrl,
      VOCALHOST_API_KEY: service.privateKey,
    },
  };
  const botFile = join(desk.folder, "bot.ts");
  const bot = readFileSync(botFile, "utf8");
  const botSays = (version: string): void =>
    writeFileSync(
      botFile,
      `${bot}
import { app } from "vocalhost/runner";
app.get("/version", async () => ({ version: ${JSON.stringify(version)} }));
`,
    );
  const deploy = async (): Promise<string> => {
    const { exitCode, output, errors } = await vocalhost(desk, ["deploy", "--yes"]);
    assert.equal(exitCode, 0, output + errors);
    return output + errors;
  };
  botSays("one");
  assert.match(await deploy(), /STEP 1\/\d+: FROM|Step 1\/\d+ : FROM/);
  const call = await openCall(service, AGENT);
  assert.equal(await versionIn(service, call.sessionId), "one");

  botSays("two");
  const second = await deploy();
  assert.match(second, /using cache/i);
  const newer = await openCall(service, AGENT);
  assert.equal(await versionIn(service, newer.sessionId), "two");
  assert.equal(await versionIn(service, call.sessionId), "one", "the call under which it was replaced");

  const { total } = await service.api.builds.list({ limit: 1, offset: 0 });
  assert.doesNotMatch(await deploy(), /STEP|Uploading/i);
  assert.equal(
    (await service.api.builds.list({ limit: 1, offset: 0 })).total,
    total,
    "nothing is built twice",
  );

  appendFileSync(join(desk.folder, "Dockerfile"), "ADD http://127.0.0.1/secrets /secrets\n");
  const refused = await vocalhost(desk, ["deploy", "--yes"]);
  assert.equal(refused.exitCode, 1);
  assert.match(refused.errors, /Dockerfile, line \d+: ADD takes files of the bot's folder only/);

  const { exitCode, output, errors } = await vocalhost(desk, ["agent", "rollback", AGENT, "--yes"]);
  assert.equal(exitCode, 0, output + errors);
  const older = await openCall(service, AGENT);
  assert.equal(await versionIn(service, older.sessionId), "one");
  for (const { socket } of [call, newer, older]) socket.socket.close();
  for (const { sessionId } of [parrot, call, newer, older])
    assert.equal(await service.sessionEnded(sessionId, 60_000), "client-left");
});

async function versionIn(service: ServiceProcess, sessionId: string): Promise<string> {
  const answer = await fetch(`${service.apiUrl}/public/${AGENT}/sessions/${sessionId}/version`, {
    headers: { authorization: `Bearer ${service.publicKey}` },
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return (JSON.parse(text) as { version: string }).version;
}
