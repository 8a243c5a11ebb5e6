// `npm start` as others start and end it: a process manager knows npm's pid only, a terminal signals all processes at once.
import assert from "node:assert/strict";
import { createApiClient } from "@vocalhost/protocol";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { until, within } from "../../testing/wait.ts";
import { isRunning } from "../harness/service-process.ts";
import { watchProcess, type WatchedProcess } from "../harness/watched-process.ts";
import { instancesAlive } from "./fault-service.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const AGENT = "parrot";
const ORDERLY_MS = 15_000;

interface FirstRun {
  apiUrl: string;
  publicKey: string;
}

// The second start finds what the first one has made.
describe("npm start", () => {
  const dataFolder = mkdtempSync(join(tmpdir(), "vocalhost-npm-start-"));
  after(() => rmSync(dataFolder, { recursive: true, force: true }));

  for (const { name, signal, tell } of [
    {
      name: "a SIGTERM to npm alone",
      signal: "SIGTERM",
      tell: (pid: number) => process.kill(pid, "SIGTERM"),
    },
    {
      name: "a Ctrl-C, which every process gets",
      signal: "SIGINT",
      tell: (pid: number) => process.kill(-pid, "SIGINT"),
    },
  ])
    test(`${name} ends the whole service in order`, async () => {
      await using npm = startNpm();
      const [, apiUrl = ""] = await npm.printed(/API\s+(http\S+)/);
      const sessionId = await startSession(apiUrl);
      const processes = [...npm.output().matchAll(/"pid":(\d+),"msg":"process started"/g)].map(([, pid]) =>
        Number(pid),
      );
      assert.equal(processes.length, 2, "gateway and controller");
      const exited = new Promise((resolve) => npm.process.once("exit", resolve));
      tell(npm.process.pid!);
      assert.equal(await within(exited, ORDERLY_MS, "end of npm"), 0, npm.output());
      assert.match(
        npm.output(),
        new RegExp(`"signal":"${signal}","msg":"shutting down, once more to force"`),
      );
      assert.deepEqual(processes.filter(isRunning), []);
      assert.deepEqual(instancesAlive(dataFolder), []);
      assert.deepEqual(endOf(sessionId), { state: "ended", end_reason: "stopped" });
    });

  function startNpm(): WatchedProcess {
    const child = spawn("npm", ["start"], {
      cwd: REPOSITORY,
      env: { ...process.env, VOCALHOST_PORT: "0", VOCALHOST_DATA_DIR: dataFolder },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // a process group of its own, as a shell gives to what is started in it
    });
    return watchProcess(child, "npm");
  }

  async function startSession(apiUrl: string): Promise<string> {
    const { publicKey } = JSON.parse(readFileSync(join(dataFolder, "first-run.json"), "utf8")) as FirstRun;
    const api = createApiClient({ baseUrl: apiUrl, token: publicKey });
    const started = await until(
      () => api.sessions.start(AGENT, { transport: "webrtc" }).catch(() => undefined),
      60_000,
      "session with the parrot",
    );
    assert.ok("sessionId" in started);
    return started.sessionId;
  }

  function endOf(sessionId: string): unknown {
    using database = new DatabaseSync(join(dataFolder, "vocalhost.db"), { readOnly: true, timeout: 5_000 });
    return { ...database.prepare("SELECT state, end_reason FROM sessions WHERE id = ?").get(sessionId) };
  }
});
