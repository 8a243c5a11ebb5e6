// The database restarts, the disk is full, the clock is set: calls go on, and what they cost is right.
import assert from "node:assert/strict";
import { createApiClient, type SessionDetails } from "@vocalhost/protocol";
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { patientMs } from "../../testing/patience.ts";
import { size } from "../../testing/sizes.ts";
import {
  postgresIsMissing,
  startTestPostgres,
} from "../../packages/control-plane/src/testing/test-postgres.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { fillDisk, mountIsMissing, mountSmallDisk } from "../../testing/small-disk.ts";
import type { SocketClient } from "../harness/socket-client.ts";
import { keepTalking } from "../harness/talk.ts";
import { pause, until } from "../../testing/wait.ts";
import { ECHO_BOT, openCall, start } from "./hosted-calls.ts";

const GAP_MAX_MS = 1_000;
const CLIENT_LATE_MS = patientMs(500); // what a client hears late of the end of its call
const BACK_MS = 5_000;
const RESTARTS = size<("immediate" | "fast")[]>(
  ["immediate"],
  ["immediate", "fast", "immediate", "immediate"],
);
/** Hours. The last of them is always undone. */
const JUMPS = size([2, -2], [2, -2, 26, -26, 24 * 32, -24 * 32, 0.5, -0.5]);

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

async function ended(service: ServiceProcess, agent: string, sessionId: string): Promise<SessionDetails> {
  return until(
    async () => {
      const session = await service.api.sessions.get(agent, sessionId).catch(() => undefined);
      return session?.status === "ended" && session;
    },
    20_000,
    `end of session ${sessionId}`,
  );
}

describe("with Postgres", { skip: postgresIsMissing() }, () => {
  const stack = new AsyncDisposableStack();
  let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
  let service: ServiceProcess;
  before(async () => {
    postgres = stack.use(await startTestPostgres());
    service = stack.use(await startServiceProcess({ environment: { VOCALHOST_DATABASE_URL: postgres.url } }));
    const autoScaling = { minAgents: 2, maxAgents: 8 };
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
    assert.equal(service.pid("controller"), controller, "nobody had to be started again");
    for (const call of calls) {
      await call.hangUp();
      assert.equal((await ended(service, "echo", call.sessionId)).endReason, "client-left");
    }
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

describe("on a full disk", { skip: mountIsMissing() }, () => {
  const stack = new AsyncDisposableStack();
  let service: ServiceProcess;
  let disk: string;
  before(async () => {
    disk = stack.use(mountSmallDisk("32m")).folder;
    service = stack.use(await startServiceProcess({ dataFolder: disk }));
    await service.deploy({ name: "echo", files: ECHO_BOT, autoScaling: { minAgents: 2, maxAgents: 6 } });
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
    assert.equal(service.pid("controller"), controller, "nobody had to be started again");
  });
});

describe("when the clock is set", { skip: fakeTimeIsMissing() }, () => {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-clock-"));
  let service: ServiceProcess;
  before(async () => {
    setClock(0);
    const settings = join(folder, "settings");
    // In the file, the variables reach gateway and controller but not the supervisor, nor any instance.
    writeFileSync(
      settings,
      [
        `LD_PRELOAD=${fakeTimeLibrary()}`,
        `FAKETIME_TIMESTAMP_FILE=${join(folder, "offset")}`,
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
        "FAKETIME_NO_CACHE=1",
      ].join("\n"),
    );
    service = await startServiceProcess({ environment: { VOCALHOST_CONFIG: settings } });
    const agent = {
      files: ECHO_BOT,
      vendorViva: { audioFilter: "tel" },
      autoScaling: { minAgents: 2, maxAgents: 8 },
    } as const;
    await service.deploy({ ...agent, name: "echo" });
    await service.deploy({ ...agent, name: "brief" });
    const files = {
      "bot.ts": `await new Promise((resolve) => setTimeout(resolve, ${patientMs(1_000)}));\n${ECHO_BOT["bot.ts"]}`,
    };
    await service.deploy({ name: "cold", files, autoScaling: { minAgents: 0, maxAgents: 4 } });
    using database = new DatabaseSync(join(service.dataFolder, "vocalhost.db"), { timeout: 5_000 });
    database
      .prepare(
        `UPDATE deployments SET spec = json_set(spec, '$.maxSessionDurationS', ${BRIEF_S})
         WHERE agent_id = (SELECT id FROM agents WHERE name = 'brief')`,
      )
      .run(); // the interface allows a minute at least
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const BRIEF_S = 6;
  const HOUR_S = 3_600;
  const CALLS_MAX = 4;

  function setClock(offsetS: number): void {
    writeFileSync(join(folder, "offset"), `${offsetS < 0 ? "" : "+"}${offsetS}\n`);
  }

  /** Resolves when the controller believes it. */
  async function setClockBy(offsetS: number): Promise<void> {
    setClock(offsetS);
    await until(
      async () => {
        const { headers } = await fetch(`${service.apiUrl}/regions`);
        const aheadMs = Date.parse(headers.get("date") ?? "") - Date.now();
        return Math.abs(aheadMs - offsetS * 1_000) < 5_000;
      },
      10_000,
      `clock ${offsetS} s ahead`,
    );
  }

  /** A call that is ended by the test, or by the service; gives what the client measured. */
  async function timedCall(agent: string) {
    const startedMs = performance.now();
    const { sessionId, socket } = await openCall(service, agent);
    const connectedMs = performance.now();
    const over = socket.closed(60_000).then(() => performance.now());
    return {
      sessionId,
      over,
      async hangUp(): Promise<SessionDetails> {
        socket.socket.close();
        const endedMs = await over;
        const session = await ended(service, agent, sessionId);
        const seconds = session.seconds ?? -1;
        assert.ok(
          seconds >= (endedMs - connectedMs - CLIENT_LATE_MS) / 1_000 - 1,
          `${seconds} s are too few`,
        );
        assert.ok(seconds <= (endedMs - startedMs + CLIENT_LATE_MS) / 1_000 + 1, `${seconds} s are too many`);
        return session;
      },
    };
  }

  test("hours forth and back change no length and no deadline", async (context) => {
    const calls = [await timedCall("echo")];
    const brief = await timedCall("brief");
    const briefMs = performance.now();
    await pause(1_000);
    for (const hours of JUMPS) {
      await setClockBy(hours * HOUR_S);
      calls.push(await timedCall("echo"));
      await pause(1_500);
      for (const { sessionId } of calls)
        assert.equal((await service.api.sessions.get("echo", sessionId)).status, "active", `${hours} h`);
      if (calls.length > CALLS_MAX) assert.equal((await calls.shift()?.hangUp())?.endReason, "client-left");
    }
    for (const call of calls) {
      const session = await service.api.sessions.get("echo", call.sessionId);
      assert.equal(session.status, "active");
      assert.equal((await call.hangUp()).endReason, "client-left");
    }
    const lastedMs = (await brief.over) - briefMs;
    const { endReason, seconds } = await ended(service, "brief", brief.sessionId);
    context.diagnostic(`a call of ${BRIEF_S} s lasted ${Math.round(lastedMs)} ms, ${seconds} s are billed`);
    assert.equal(endReason, "deadline");
    assert.ok(
      lastedMs > BRIEF_S * 1_000 - CLIENT_LATE_MS && lastedMs < 2 * HOUR_S * 1_000,
      `lasted ${lastedMs} ms`,
    );
    assert.equal(seconds, BRIEF_S);
  });

  test("a bot that boots meanwhile is not taken for one that never gets ready", async () => {
    // More than there can be instances that wait for them.
    const calls = Promise.all(Array.from({ length: 3 }, () => openCall(service, "cold")));
    // None may still be on its way: its token would be of two hours ago.
    const connected = "SELECT id, state, cold_start FROM sessions WHERE agent_id = ? AND state <> 'pending'";
    const [{ id: agentId } = { id: "" }] = service.rows<{ id: string }>(
      "SELECT id FROM agents WHERE name = 'cold'",
    );
    const cold = await until(
      () => {
        const rows = service.rows<{ id: string; state: string; cold_start: number }>(connected, agentId);
        return rows.length === 3 && rows.find((row) => row.state === "starting" && row.cold_start === 1);
      },
      5_000,
      "cold start",
    );
    setClock(2 * HOUR_S);
    const opened = await calls;
    assert.equal((await service.api.sessions.get("cold", cold.id)).coldStart, true);
    for (const { socket } of opened) socket.socket.close();
    const crashes = service.rows<{ crashes: number }>("SELECT crashes FROM deployments");
    assert.ok(crashes.every((row) => row.crashes === 0));
  });

  test("a call over the end of a month is split there", async () => {
    const now = new Date();
    const boundaryMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const [month, nextMonth] = [boundaryMs - 1, boundaryMs].map((ms) =>
      new Date(ms).toISOString().slice(0, 7),
    );
    const earlier = await service.api.usage(month);
    await setClockBy(Math.round((boundaryMs - Date.now()) / 1_000) - 4);
    const call = await timedCall("echo");
    await until(
      async () => {
        const { headers } = await fetch(`${service.apiUrl}/regions`);
        return Date.parse(headers.get("date") ?? "") >= boundaryMs + 2_000;
      },
      15_000,
      "the next month",
    );
    const { seconds } = await call.hangUp();
    const pieces = service.rows<{ period: string; seconds: number }>(
      "SELECT period, seconds FROM usage WHERE session_id = ? ORDER BY period",
      call.sessionId,
    );
    assert.deepEqual(
      pieces.map(({ period }) => period),
      [month, nextMonth],
    );
    assert.equal(
      pieces.reduce((sum, piece) => sum + piece.seconds, 0),
      seconds,
    );
    assert.ok(
      pieces.every((piece) => piece.seconds >= 1),
      JSON.stringify(pieces),
    );
    const reports = [await service.api.usage(month), await service.api.usage(nextMonth)];
    assert.deepEqual(
      reports.map((report) => report.seconds),
      [earlier.seconds + pieces[0]!.seconds, pieces[1]!.seconds],
    );
    assert.deepEqual(
      reports.map(({ closed }) => closed),
      [false, false],
    );
  });
});

function fakeTimeLibrary(): string | undefined {
  return globSync("/usr/lib/*/faketime/libfaketimeMT.so.1")[0];
}

function fakeTimeIsMissing(): string | undefined {
  return fakeTimeLibrary() === undefined ? "needs libfaketime" : undefined;
}
