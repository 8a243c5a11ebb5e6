// Every wrong order of the move to Postgres: the service refuses to start, and the data folder stays as it was.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { postgresIsMissing, startTestPostgres } from "../../packages/store/src/testing/test-postgres.ts";
import { programOf } from "../../testing/programs.ts";
import { vocalhost, type Desk } from "../cli/vocalhost-process.ts";
import { runProgram } from "../harness/program.ts";
import { startServiceProcess } from "../harness/service-process.ts";
import { ECHO_BOT, openCall, start } from "./hosted-calls.ts";

const DAYS_MS = 2 * 86_400_000;

describe("the move to Postgres", { skip: postgresIsMissing() }, () => {
  const stack = new AsyncDisposableStack();
  let desk: Desk;
  let dataFolder: string;
  let right: string;
  let other: string;
  let firstRun: string;

  before(async () => {
    const folder = stack.use(mkdtempDisposableSync(join(tmpdir(), "vocalhost-move-"))).path;
    desk = { folder, environment: {} };
    dataFolder = join(folder, "data");
    right = stack.use(await startTestPostgres()).url;
    other = stack.use(await startTestPostgres()).url;
    await using service = await startServiceProcess({ dataFolder });
    await service.api.secrets.put("keys", { secretKey: "WORD", secretValue: "parrot" });
    await service.deploy({ name: "echo", files: ECHO_BOT, autoScaling: { minAgents: 0, maxAgents: 3 } });
    await service.stop();
    const [build = ""] = readdirSync(join(dataFolder, "builds"));
    const old = (Date.now() - DAYS_MS) / 1_000; // unknown files are removed from this age on
    utimesSync(join(dataFolder, "builds", build), old, old);
    firstRun = readFileSync(join(dataFolder, "first-run.json"), "utf8");
  });
  after(() => stack.disposeAsync());

  async function refused(url: string | undefined, sentence: RegExp): Promise<void> {
    const before = contentsOf(dataFolder);
    assert.equal(before.builds.length, 1);
    const { code, errors } = await runProgram(programOf("control-plane", "main/up-main"), {
      workingFolder: desk.folder,
      environment: {
        VOCALHOST_DATA_DIR: dataFolder,
        VOCALHOST_PORT: "0",
        ...(url === undefined ? {} : { VOCALHOST_DATABASE_URL: url }),
      },
    });
    assert.notEqual(code, 0);
    assert.match(errors.trim(), sentence);
    assert.equal(errors.trim().split("\n").length, 1, errors);
    assert.deepEqual(contentsOf(dataFolder), before);
    assert.equal(readFileSync(join(dataFolder, "first-run.json"), "utf8"), firstRun);
  }

  test("the address is set before the copy is made", () =>
    refused(right, /is empty.*vocalhost store copy.*VOCALHOST_DATA_DIR/));

  test("the address is another service's", async () => {
    await using service = await startServiceProcess({ environment: { VOCALHOST_DATABASE_URL: other } });
    await service.stop();
    await refused(other, /belongs to another store.*VOCALHOST_DATABASE_URL.*VOCALHOST_DATA_DIR/);
  });

  test("the SQLite file is moved away first", async () => {
    const file = join(dataFolder, "vocalhost.db");
    renameSync(file, join(desk.folder, "away.db"));
    await refused(undefined, /is empty.*VOCALHOST_DATABASE_URL/);
    assert.equal(existsSync(file), false);
    renameSync(join(desk.folder, "away.db"), file);
  });

  test("the right order works, the address is forgotten later, and a build that is gone is told", async () => {
    desk.environment["VOCALHOST_DATABASE_URL"] = right;
    const copied = await vocalhost(desk, ["store", "copy", "--data-dir", dataFolder]);
    assert.equal(copied.exitCode, 0, copied.errors);
    {
      const environment = { VOCALHOST_DATABASE_URL: right };
      await using service = await startServiceProcess({ dataFolder, environment });
      const { socket } = await openCall(service, "echo");
      socket.socket.close();
      await service.stop();
    }
    await refused(undefined, /belongs to another store/);
    rmSync(join(dataFolder, "vocalhost.db"));
    await refused(undefined, /is empty/);
    const environment = { VOCALHOST_DATABASE_URL: right };
    await using service = await startServiceProcess({ dataFolder, environment });
    assert.equal((await service.api.agents.get("echo")).ready, true);

    const builds = join(dataFolder, "builds");
    renameSync(builds, join(desk.folder, "builds-away"));
    assert.equal((await start(service, "echo", { transport: "webrtc" })).status, 400);
    const { ready, available, errors = [], currentRevision } = await service.api.agents.get("echo");
    assert.deepEqual([ready, available], [false, false]);
    assert.match(errors[0]?.message ?? "", /^The build \S+ is gone\. Deploy the bot again\.$/);
    assert.equal(currentRevision?.health?.message, errors[0]?.message);
    renameSync(join(desk.folder, "builds-away"), builds);
    const { socket } = await openCall(service, "echo");
    socket.socket.close();
    assert.deepEqual((await service.api.agents.get("echo")).errors, []);
  });
});

/** Everything that must outlive a wrong start: builds, uploads, keys, whose folder it is, and which files there are. */
function contentsOf(folder: string) {
  const names = (path: string) =>
    existsSync(join(folder, path)) ? readdirSync(join(folder, path)).toSorted() : [];
  const sum = (name: string) => {
    const path = join(folder, name);
    return existsSync(path) && createHash("sha256").update(readFileSync(path)).digest("hex");
  };
  return {
    names: names(".").filter((name) => !/^vocalhost\.db-|^controller|^compile-cache/.test(name)),
    builds: names("builds"),
    uploads: names("uploads"),
    sums: ["store-id", "master-keys", "service-secret", "first-run.json"].map(sum),
  };
}
