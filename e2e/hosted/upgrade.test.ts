// The way of docs/hosted/server.md from a store of the first release to this one.
import assert from "node:assert/strict";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { size } from "../../testing/sizes.ts";
import { startTestPostgres } from "../../packages/store/src/testing/test-postgres.ts";
import { until } from "../../testing/wait.ts";
import { vocalhost, type Desk } from "../cli/vocalhost-process.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { firstRelease, layFirstRelease } from "./first-release.ts";

const SDK = fileURLToPath(new URL("../../packages/sdk", import.meta.url));
const { agent, month, owner } = firstRelease;
const SOON_MS = 30_000;

describe("a store of the first release", () => {
  const stack = new AsyncDisposableStack();
  let desk: Desk;
  let dataFolder: string;
  let service: ServiceProcess;

  before(async () => {
    const folder = stack.use(mkdtempDisposableSync(join(tmpdir(), "vocalhost-upgrade-"))).path;
    desk = { folder, environment: {} };
    dataFolder = join(folder, "data");
    layFirstRelease(dataFolder, SDK);
    const backup = await vocalhost(desk, ["backup", "before.tar.gz", "--data-dir", dataFolder]);
    assert.equal(backup.exitCode, 0, backup.errors);
    service = stack.use(await startServiceProcess({ dataFolder, hasVoiceEngine: false }));
  });
  after(() => stack.disposeAsync());

  test("its agent is up again, with its secrets, and is called", async () => {
    await until(() => isUp(service), SOON_MS, "ready agent");
    const call = await vocalhost(desk, callOf(service));
    assert.equal(call.exitCode, 0, call.errors);
    const { sessions } = await service.api.sessions.list(agent);
    assert.deepEqual([sessions.length, sessions.at(-1)?.sessionId], [2, firstRelease.sessionId]);
    const told = (): Promise<boolean> =>
      service.api.agents
        .logs(agent, { limit: 100 })
        .then(({ logs }) => logs.some(({ log }) => log.includes(firstRelease.secret)));
    await until(told, SOON_MS, "a word from the secrets");
  });

  test("what was counted is still billed, and its owner signs in with the old password", async () => {
    const { usage } = parsed(await vocalhost(signedIn(service), ["usage", "--month", month, "--json"])) as {
      usage: { seconds: number };
    };
    assert.equal(usage.seconds, firstRelease.seconds);
    const origin = service.apiUrl.replace(/\/v1$/, "");
    const signIn = await fetch(`${origin}/auth/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json", origin },
      body: JSON.stringify(owner),
    });
    assert.equal(signIn.status, 200, await signIn.text());
  });

  test("its region keeps its code, under a name that is true, and is deployed to without being named", async () => {
    const { regions } = await service.api.regions();
    assert.deepEqual(regions, [{ code: "us-west", display_name: "This machine" }]);
    const buildId = await service.build({ "bot.ts": "export async function bot() {}\n" });
    await service.api.agents.update(agent, { buildId, secretSet: "keys" });
    const settled = async (): Promise<boolean> => {
      const { ready, desiredDeploymentId, reconciledDeploymentId } = await service.api.agents.get(agent);
      return ready && desiredDeploymentId === reconciledDeploymentId;
    };
    await until(settled, SOON_MS, "the new deployment");
  });

  test("stopped, its file is made compact; and the program before cannot be handed it by mistake", async () => {
    await service.stop();
    const compact = await vocalhost(desk, ["store", "compact", "--data-dir", dataFolder]);
    assert.equal(compact.exitCode, 0, compact.errors);
    using database = new DatabaseSync(join(dataFolder, "vocalhost.db"));
    const next = "INSERT INTO schema_version SELECT max(version) + 1, 'of tomorrow', 0 FROM schema_version";
    database.exec(next);
    database.close();
    await assert.rejects(startServiceProcess({ dataFolder }), /made by a newer program.*restore a backup/);
  });

  test("the backup taken before the upgrade is the way back, and the way to another machine", async () => {
    const elsewhere = join(desk.folder, "elsewhere");
    const restore = await vocalhost(desk, ["restore", "before.tar.gz", "--data-dir", elsewhere]);
    assert.equal(restore.exitCode, 0, restore.errors);
    await using restored = await startServiceProcess({ dataFolder: elsewhere, hasVoiceEngine: false });
    await until(() => isUp(restored), SOON_MS, "restored agent");
    const call = await vocalhost(desk, callOf(restored));
    assert.equal(call.exitCode, 0, call.errors);
  });
});

const IN_LONG = size<string | false>("starts two services and a database; in the long run", false);
test(
  "it moves to Postgres as well, with the command of the page; and where the earlier program is gone from its folder, builds find the new one",
  { skip: IN_LONG },
  async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-postgres-"));
    await using postgres = await startTestPostgres();
    layFirstRelease(folder.path, "/nowhere/at/all/packages/sdk");
    const settings = {
      VOCALHOST_DATA_DIR: folder.path,
      VOCALHOST_DATABASE_URL: await postgres.newDatabase(),
    };
    const file = join(folder.path, "vocalhost.env");
    writeFileSync(
      file,
      Object.entries(settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(""),
    );
    const desk: Desk = { folder: folder.path, environment: {} };
    const copy = await vocalhost(desk, ["store", "copy", "--settings", file]);
    assert.equal(copy.exitCode, 0, copy.errors);
    const options = { dataFolder: folder.path, environment: settings, hasVoiceEngine: false };
    await using service = await startServiceProcess(options);
    await until(() => isUp(service), SOON_MS, "ready agent");
    const { sessions } = await service.api.sessions.list(agent);
    assert.deepEqual(
      sessions.map(({ sessionId }) => sessionId),
      [firstRelease.sessionId],
    );
  },
);

async function isUp({ api }: ServiceProcess): Promise<boolean> {
  const { instances } = await api.agents.pool(agent);
  return instances.some(({ state }) => state === "ready");
}

function callOf({ apiUrl }: ServiceProcess): string[] {
  const stream = apiUrl.replace("http", "ws").replace("/v1", "/ws/twilio");
  const words = ["call", "--to", stream, "--parameter", `_serviceHost=${agent}.main`];
  return [...words, "--hang-up-after-silence", "5s", "--expect-audio"];
}

function signedIn({ apiUrl, privateKey }: ServiceProcess): Desk {
  return { folder: tmpdir(), environment: { VOCALHOST_API_URL: apiUrl, VOCALHOST_API_KEY: privateKey } };
}

function parsed({ output, errors }: { output: string; errors: string }): unknown {
  try {
    return JSON.parse(output);
  } catch (error) {
    throw new Error(`No JSON: ${output}${errors}`, { cause: error });
  }
}
