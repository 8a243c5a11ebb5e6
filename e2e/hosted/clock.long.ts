// The clock is set while calls go on: what they cost is right, and no deadline is missed or met too early.
import assert from "node:assert/strict";
import type { SessionDetails } from "@vocalhost/protocol";
import { chmodSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { patientMs } from "../../testing/patience.ts";
import { size } from "../../testing/sizes.ts";
import { pause, until } from "../../testing/wait.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { ECHO_BOT, ended, openCall } from "./hosted-calls.ts";

const CLIENT_LATE_MS = patientMs(500); // what a client hears late of the end of its call
/** Hours. The last of them is always undone. */
const JUMPS = size([2, -2], [2, -2, 26, -26, 24 * 32, -24 * 32, 0.5, -0.5]);

describe("when the clock is set", { skip: fakeTimeIsMissing() }, () => {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-clock-"));
  chmodSync(folder, 0o711); // bots look for the door, as users of their own when the service is root
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
    openDoor();
    const agent = { files: ECHO_BOT, vendorViva: { audioFilter: "tel" } } as const;
    await Promise.all([
      service.deploy({ ...agent, name: "echo", autoScaling: { minAgents: 1, maxAgents: 8 } }),
      service.deploy({ ...agent, name: "brief", autoScaling: { minAgents: 1, maxAgents: 2 } }),
      service.deploy({
        name: "cold",
        files: { "bot.ts": `${WAITS_AT_DOOR}${ECHO_BOT["bot.ts"]}` },
        autoScaling: { minAgents: 0, maxAgents: 4 },
      }),
    ]);
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

  // A bot that boots as long as the test wants.
  const door = join(folder, "door");
  const openDoor = (): void => writeFileSync(door, "");
  const WAITS_AT_DOOR = `
import { existsSync as isThere } from "node:fs";
while (!isThere(${JSON.stringify(door)})) await new Promise((resolve) => setTimeout(resolve, 20));
`;

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
    rmSync(door);
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
    await setClockBy(2 * HOUR_S);
    openDoor();
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
    const reportsOf = () => Promise.all([month, nextMonth].map((each) => service.api.usage(each)));
    const earlier = await reportsOf(); // a jump of the tests before may have led there
    const leftS = Math.round(patientMs(2_000) / 1_000);
    await setClockBy(Math.round((boundaryMs - Date.now()) / 1_000) - leftS);
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
    const reports = await reportsOf();
    assert.deepEqual(
      reports.map((report) => report.seconds),
      pieces.map((piece, index) => earlier[index]!.seconds + piece.seconds),
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
