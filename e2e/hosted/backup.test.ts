import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { vocalhost, type Desk } from "../cli/vocalhost-process.ts";
import { startServiceProcess } from "../harness/service-process.ts";
import { until } from "../../testing/wait.ts";
import { openCall } from "./fault-call.ts";
import { startFaultService, type FaultService } from "./fault-service.ts";
import { nodeFlags, programOf } from "../../testing/programs.ts";

const AGENT = "echo";
const OPERATE = programOf("control-plane", "main/operate-main");
const CONVERSATION_MS = 20_000;

describe("a backup", () => {
  const stack = new AsyncDisposableStack();
  let faults: FaultService;
  let desk: Desk;
  let archive: string;

  before(async () => {
    faults = await startFaultService(stack);
    desk = {
      folder: stack.use(mkdtempDisposableSync(join(tmpdir(), "vocalhost-backup-"))).path,
      environment: {},
    };
    archive = join(desk.folder, "monday.tar.gz");
    await faults.service.api.secrets.put("keys", { secretKey: "WORD", secretValue: "parrot" });
    await faults.service.deploy({ name: AGENT, files: faults.bot(), secretSet: "keys" });
  });
  after(() => stack.disposeAsync());

  test("is taken under a call that does not notice, is private, and never overwrites", async () => {
    const { service } = faults;
    using call = await openCall(service, { agent: AGENT });
    await until(() => call.echoed > 5, CONVERSATION_MS, "conversation");
    const backup = ["backup", archive, "--data-dir", service.dataFolder];
    const taken = await vocalhost(desk, backup);
    assert.equal(taken.exitCode, 0, taken.errors);
    assert.match(taken.output, /1 agents, \d+ sessions, 1 builds/);
    assert.equal(statSync(archive).mode & 0o077, 0);
    const heard = call.echoed;
    await until(() => call.echoed > heard + 5, CONVERSATION_MS, "conversation after it");
    const again = await vocalhost(desk, backup);
    assert.equal(again.exitCode, 1);
    assert.match(again.errors, /exists already/);
    assert.deepEqual(readdirSync(desk.folder), ["monday.tar.gz"]);
  });

  test("is restored elsewhere: keys, agents, builds and secrets work, and its calls are over", async () => {
    const dataFolder = join(desk.folder, "restored");
    const restored = await vocalhost(desk, ["restore", archive, "--data-dir", dataFolder]);
    assert.equal(restored.exitCode, 0, restored.errors);
    await using service = await startServiceProcess({ dataFolder });
    assert.equal(service.privateKey, faults.service.privateKey);
    await until(async () => (await service.api.agents.get(AGENT)).ready, CONVERSATION_MS, "restored agent");
    const { sessions } = await service.api.sessions.list(AGENT);
    assert.ok(sessions.length > 0 && sessions.every(({ endedAt }) => endedAt !== null));
    using call = await openCall(service, { agent: AGENT });
    await until(() => call.echoed > 5, CONVERSATION_MS, "conversation with the restored agent");
    const onto = await vocalhost(desk, ["restore", archive, "--data-dir", dataFolder]);
    assert.match(onto.errors, /has data already/);
  });

  test("put back as the database alone, it is led at once although folder and instances know newer epochs", async () => {
    const dataFolder = join(desk.folder, "older");
    await vocalhost(desk, ["restore", archive, "--data-dir", dataFolder]);
    const database = join(dataFolder, "vocalhost.db");
    copyFileSync(database, join(desk.folder, "older.db"));
    {
      await using service = await startServiceProcess({ dataFolder });
      for (let life = 0; life < 3; life++) await service.replaceController();
    }
    for (const end of ["", "-wal", "-shm"]) rmSync(`${database}${end}`, { force: true });
    copyFileSync(join(desk.folder, "older.db"), database);
    await using service = await startServiceProcess({ dataFolder });
    await until(async () => (await service.api.agents.get(AGENT)).ready, CONVERSATION_MS, "ready agent");
    assert.doesNotMatch(service.output(), /EPOCH_STALE|older epoch/);
  });

  test("killed in the middle, a restore is not taken for a service, and can be run again", async () => {
    const dataFolder = join(desk.folder, "interrupted");
    mkdirSync(dataFolder);
    const restoring = spawn(process.execPath, [...nodeFlags, OPERATE, "restore", archive], {
      env: { ...process.env, VOCALHOST_DATA_DIR: dataFolder },
      stdio: "ignore",
    });
    const ended = once(restoring, "exit");
    while (!existsSync(join(dataFolder, ".restoring"))) await setImmediate();
    restoring.kill("SIGKILL");
    await ended;
    await assert.rejects(startServiceProcess({ dataFolder }), /did not finish\. Run vocalhost restore again/);
    const again = await vocalhost(desk, ["restore", archive, "--data-dir", dataFolder]);
    assert.equal(again.exitCode, 0, again.errors);
    assert.equal(existsSync(join(dataFolder, ".restoring")), false);
  });

  test("cut off or altered, it is refused and nothing is left", async () => {
    const dataFolder = join(desk.folder, "empty");
    const broken = join(desk.folder, "broken.tar.gz");
    writeFileSync(broken, "no archive");
    const refused = await vocalhost(desk, ["restore", broken, "--data-dir", dataFolder]);
    assert.equal(refused.exitCode, 1);
    assert.match(refused.errors, /is not a whole backup/);
    assert.deepEqual(readdirSync(dataFolder), []);
  });
});
