// The database restarts, the disk is full: calls go on, and what they cost is right.
import assert from "node:assert/strict";
import { createApiClient } from "@vocalhost/protocol";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { patientMs } from "../../testing/patience.ts";
import { size } from "../../testing/sizes.ts";
import { postgresIsMissing, startTestPostgres } from "../../packages/store/src/testing/test-postgres.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { fillDisk, mountIsMissing, mountSmallDisk } from "../../testing/small-disk.ts";
import type { SocketClient } from "../harness/socket-client.ts";
import { keepTalking } from "../harness/talk.ts";
import { pause, until } from "../../testing/wait.ts";
import { ECHO_BOT, ended, openCall, start } from "./hosted-calls.ts";

const GAP_MAX_MS = 1_000;
const BACK_MS = 5_000;
const REFUSED_MS = 4_000; // three times that on a quiet machine: ten seconds, as a warm start, and some
const RESTARTS = size<("immediate" | "fast")[]>(
  ["immediate"],
  ["immediate", "fast", "immediate", "immediate"],
);

interface TalkingCall {
  sessionId: string;
  socket: SocketClient;
  /** Resolves with the longest silence since the call, or the last look. */
  look(): number;
  hangUp(): Promise<void>;
}

async function talk(service: ServiceProcess, agent: string): Promise<TalkingCall> {
  const { sessionId, socket } = await openCall(service, agent);
  const stop = keepTalking(socket);
  await until(() => socket.heardMs > 500, 15_000, "own voice back");
  socket.restart();
  return {
    sessionId,
    socket,
    look() {
      const { longestGapMs, heardMs } = socket;
      assert.equal(socket.socket.readyState, socket.socket.OPEN);
      assert.ok(heardMs > 0, "something was heard");
      socket.restart();
      return longestGapMs;
    },
    async hangUp() {
      await stop();
      socket.socket.close();
    },
  };
}

describe("with Postgres", { skip: postgresIsMissing() }, () => {
  const stack = new AsyncDisposableStack();
  let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
  let service: ServiceProcess;
  before(async () => {
    postgres = stack.use(await startTestPostgres());
    service = stack.use(await startServiceProcess({ environment: { VOCALHOST_DATABASE_URL: postgres.url } }));
    const autoScaling = { minAgents: 1, maxAgents: 8 };
    await service.deploy({ name: "echo", files: ECHO_BOT, vendorViva: { audioFilter: "tel" }, autoScaling });
  });
  after(() => stack.disposeAsync());

  test("a session is started, heard, logged, ended and billed", async () => {
    assert.equal(existsSync(join(service.dataFolder, "vocalhost.db")), false);
    const { sessionId, socket } = await openCall(service, "echo", { body: { say: ["words for Postgres"] } });
    const stop = keepTalking(socket);
    await until(() => socket.heardMs > 1_200, 15_000, "own voice back");
    await until(
      async () =>
        (await service.api.agents.logs("echo", { sessionId, query: "words for Postgres" })).total.value === 1,
      10_000,
      "its words in the log",
    );
    await stop();
    socket.socket.close();
    const { seconds, endReason, coldStart } = await ended(service, "echo", sessionId);
    assert.deepEqual([endReason, coldStart], ["client-left", false]);
    assert.ok(seconds !== null && seconds >= 1);
    const usage = await service.api.usage();
    assert.deepEqual([usage.seconds, usage.sessions], [seconds, 1]);
    const { total_count } = await service.api.sessions.list("echo", { status: "ended", startType: "warm" });
    assert.equal(total_count, 1);
  });

  test("a restart of the database disturbs no call, and the interface is back soon", async (context) => {
    const calls = [await talk(service, "echo"), await talk(service, "echo"), await talk(service, "echo")];
    const controller = service.pid("controller");
    for (const mode of RESTARTS) {
      await postgres.restart(mode);
      const upMs = performance.now();
      const once = createApiClient({ baseUrl: service.apiUrl, token: service.privateKey });
      await until(
        () =>
          once.sessions.list("echo").then(
            () => true,
            () => false,
          ),
        BACK_MS,
        "answer from the store",
      );
      const backMs = performance.now() - upMs;
      const next = await openCall(service, "echo");
      next.socket.socket.close();
      const gaps = calls.map((call) => call.look());
      context.diagnostic(
        `${mode}: back after ${Math.round(backMs)} ms, longest gaps ${gaps.map(Math.round).join(", ")} ms`,
      );
      for (const gapMs of gaps) assert.ok(gapMs < patientMs(GAP_MAX_MS), `a gap of ${gapMs} ms`);
    }
    assert.equal(service.pid("controller"), controller, "no process had to be started again");
    for (const call of calls) {
      await call.hangUp();
      assert.equal((await ended(service, "echo", call.sessionId)).endReason, "client-left");
    }
  });

  for (const [name, breakIt] of [
    [
      "that is frozen",
      () => {
        postgres.freeze();
        return { [Symbol.asyncDispose]: async () => postgres.thaw() };
      },
    ],
    ["with a locked table", () => postgres.lock(postgres.url, "sessions")],
  ] as const)
    test(`a start on a database ${name} is refused as soon as a warm start would be, and calls go on`, async (context) => {
      const call = await talk(service, "echo");
      const controller = service.pid("controller");
      {
        await using _ = await breakIt();
        const took = await Promise.all(
          Array.from({ length: 12 }, async () => {
            const askedAtMs = performance.now();
            const refused = await start(service, "echo");
            assert.equal(refused.status, 503);
            assert.ok(Number(refused.headers.get("retry-after")) > 0);
            return performance.now() - askedAtMs;
          }),
        );
        context.diagnostic(`refused after ${took.map(Math.round).join(", ")} ms`);
        for (const tookMs of took) assert.ok(tookMs < patientMs(REFUSED_MS), `${tookMs} ms`);
        assert.ok(call.look() < patientMs(GAP_MAX_MS));
      }
      await until(
        async () => (await start(service, "echo", { transport: "websocket" })).status === 200,
        20_000,
        "start",
      );
      assert.equal(service.pid("controller"), controller, "no process had to be started again");
      await call.hangUp();
      assert.equal((await ended(service, "echo", call.sessionId)).endReason, "client-left");
    });

  test("a start is refused as soon when the database freezes in the middle of it", async (context) => {
    const name = new URL(postgres.url).pathname.slice(1);
    const starting = async (): Promise<string | undefined> => {
      const counted = "SELECT 'starting: ' || count(*) FROM sessions WHERE state = 'starting'";
      return (await postgres.ask(`\\c ${name}`, counted)).split("\n").at(-1);
    };
    const instances = service.instancePids();
    for (const pid of instances) process.kill(pid, "SIGSTOP"); // so that the one that is claimed cannot answer yet
    const asked = start(service, "echo");
    await until(async () => (await starting()) === "starting: 1", 10_000, "session that waits for its bot");
    const frozenAtMs = performance.now();
    postgres.freeze();
    for (const pid of instances) process.kill(pid, "SIGCONT");
    const refused = await asked;
    const tookMs = performance.now() - frozenAtMs;
    postgres.thaw();
    context.diagnostic(`${refused.status} after ${Math.round(tookMs)} ms`);
    assert.equal(refused.status, 503);
    assert.ok(tookMs < patientMs(REFUSED_MS), `${tookMs} ms`);
    // It is given up when no start can take that long any more.
    if (size(false, true))
      await until(async () => (await starting()) === "starting: 0", 90_000, "end of what was half started");
    await until(
      async () => (await start(service, "echo", { transport: "websocket" })).status === 200,
      20_000,
      "start",
    );
  });

  test("a controller that starts while the database is away waits for it", async () => {
    const call = await talk(service, "echo");
    await postgres.stop("immediate");
    const refused = await start(service, "echo");
    assert.equal(refused.status, 503);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    process.kill(service.pid("controller"), "SIGKILL");
    await pause(500); // for one or two attempts in vain
    await postgres.start();
    await until(
      async () => (await start(service, "echo", { transport: "websocket" })).status === 200,
      20_000,
      "start",
    );
    assert.ok(call.look() < patientMs(GAP_MAX_MS));
    await call.hangUp();
    assert.equal((await ended(service, "echo", call.sessionId)).endReason, "client-left");
  });
});

describe("with a SQLite file", () => {
  test("one that is damaged ends no call: the controller says so and is back when the file is whole", async () => {
    await using service = await startServiceProcess({ timing: { refusedMs: 1_000 } });
    await service.deploy({ name: "echo", files: ECHO_BOT });
    const call = await talk(service, "echo");
    const file = join(service.dataFolder, "vocalhost.db");
    const controller = service.pid("controller");
    process.kill(controller, "SIGSTOP");
    const whole = [file, `${file}-wal`].map((each) => ({ file: each, bytes: readFileSync(each) }));
    for (const each of whole) writeFileSync(each.file, "");
    writeFileSync(file, "no database at all, and long enough to be read as one".repeat(1_000));
    process.kill(controller, "SIGKILL");
    await service.printed(/vocalhost\.db is damaged/);
    await until(() => call.socket.heardMs > 1_000, 10_000, "own voice back");
    call.look();
    assert.equal((await start(service, "echo")).status, 503);
    rmSync(`${file}-shm`, { force: true });
    for (const { file: each, bytes } of whole) writeFileSync(each, bytes);
    await until(
      async () => (await start(service, "echo", { transport: "websocket" })).status === 200,
      30_000,
      "start",
    );
    call.look();
    await call.hangUp();
    assert.equal((await ended(service, "echo", call.sessionId)).endReason, "client-left");
  });
});

describe("on a full disk", { skip: mountIsMissing() }, () => {
  const stack = new AsyncDisposableStack();
  let service: ServiceProcess;
  let disk: string;
  before(async () => {
    disk = stack.use(mountSmallDisk("32m")).folder;
    service = stack.use(await startServiceProcess({ dataFolder: disk }));
    await service.deploy({ name: "echo", files: ECHO_BOT, autoScaling: { minAgents: 1, maxAgents: 6 } });
  });
  after(() => stack.disposeAsync());

  test("starts are refused, calls go on, their ends are recorded, and it heals by itself", async () => {
    const first = await talk(service, "echo");
    const second = await talk(service, "echo");
    const controller = service.pid("controller");
    fillDisk(disk, "filler");
    const refused = await until(
      async () => {
        const answer = await start(service, "echo");
        return answer.status === 503 && answer;
      },
      20_000,
      "refused start",
    );
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    assert.match(((await refused.json()) as { error: string }).error, /disk/i);
    assert.equal((await start(service, "echo", { transport: "websocket" })).status, 503);
    assert.equal((await service.api.sessions.get("echo", first.sessionId)).status, "active");
    await first.hangUp();
    assert.equal((await ended(service, "echo", first.sessionId)).endReason, "client-left");

    fillDisk(disk, "filler-more"); // not even the reserve is left
    second.look();
    await until(() => second.socket.heardMs > 1_000, 10_000, "own voice back");
    assert.ok(second.look() < patientMs(GAP_MAX_MS), "the other call goes on");
    await second.hangUp();
    await pause(1_000); // the end cannot be written yet
    rmSync(join(disk, "filler"));
    rmSync(join(disk, "filler-more"));
    assert.equal((await ended(service, "echo", second.sessionId)).endReason, "client-left");
    const healed = await until(
      async () => {
        const answer = await start(service, "echo");
        return answer.status === 200 && ((await answer.json()) as { sessionId: string });
      },
      30_000,
      "start after the disk has room",
    );
    await service.api.sessions.stop("echo", healed.sessionId);
    await ended(service, "echo", healed.sessionId);
    assert.equal(service.pid("controller"), controller, "no process had to be started again");
  });
});
