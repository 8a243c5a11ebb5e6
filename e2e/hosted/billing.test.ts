// The service bills exactly what was used, whichever process dies meanwhile.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { patientMs } from "../../testing/patience.ts";
import { createRandom } from "../../testing/random.ts";
import { size } from "../../testing/sizes.ts";
import { encodeFrame } from "@vocalhost/protocol";
import type { Moment } from "../bots/hosted-bot.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { pause, until } from "../../testing/wait.ts";
import { ECHO_BOT, openCall } from "./hosted-calls.ts";

const SESSIONS = size(10, 200);
const CALLERS = size(4, 8);
const CONTROLLER_KILLS = size(1, 10);
const INSTANCE_KILLS = size(1, 5);
const SEED = 20_261_115;
const TOLERANCE_MS = 1_000;
const CLOCKS_MS = patientMs(100); // the truth is put together from two of them
const LOST_MS = 15_000 + patientMs(1_000); // three heartbeats and one second

interface SessionFacts {
  id: string;
  state: string;
  end_reason: string | null;
  bound_at: number | null;
  seconds: number | null;
  filter: string | null;
  agent: string;
}

describe("billing", () => {
  const truthFolder = mkdtempSync(join(tmpdir(), "vocalhost-truth-"));
  chmodSync(truthFolder, 0o1777); // bots write there, as users of their own when the service is root
  let service: ServiceProcess;
  before(async () => {
    const timing = {
      reconcileMs: 200,
      restartMs: [20],
      socketTokenMs: 600_000,
      connectDeadlineMs: patientMs(5_000),
    };
    service = await startServiceProcess({ timing });
    const autoScaling = { minAgents: 2, maxAgents: 20 };
    await service.deploy({
      name: "filtered",
      files: ECHO_BOT,
      vendorViva: { audioFilter: "tel" },
      autoScaling,
    });
    await service.deploy({ name: "plain", files: ECHO_BOT, autoScaling: { minAgents: 1, maxAgents: 4 } });
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    rmSync(truthFolder, { recursive: true, force: true });
  });

  const body = { truthFolder };
  const facts = (): SessionFacts[] =>
    service.rows("SELECT sessions.*, agents.name AS agent FROM sessions JOIN agents ON agents.id = agent_id");

  /** How long the session lasted, from the binding of its instance to the bot's last sign of life. */
  function truthMs({ id, bound_at }: SessionFacts): number {
    const moments = readFileSync(join(truthFolder, id), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Moment);
    const [first, last] = [moments[0]!, moments.at(-1)!];
    return first.atMs - (bound_at ?? 0) + (last.ms - first.ms);
  }

  function hasSignOfLife(id: string): boolean {
    const file = join(truthFolder, id);
    return existsSync(file) && readFileSync(file, "utf8").includes("\n");
  }

  test("a session without the filter bills nothing, nor one in which it was switched on", async () => {
    const bare = await openCall(service, "plain", { body });
    await pause(1_100); // long enough for a second to be billed
    bare.socket.socket.close();
    await service.sessionEnded(bare.sessionId);

    const changed = await openCall(service, "plain", { body });
    const { desiredDeploymentId } = await service.api.agents.update("plain", {
      vendorViva: { audioFilter: "pro" },
    });
    await until(
      async () => (await service.api.agents.get("plain")).reconciledDeploymentId === desiredDeploymentId,
      30_000,
      "roll-out of the filter",
    );
    await pause(1_100);
    changed.socket.socket.close();
    await service.sessionEnded(changed.sessionId);
    const since = await openCall(service, "plain", { body });
    await pause(1_100);
    since.socket.socket.close();
    await service.sessionEnded(since.sessionId);

    const usage = service.rows<{ session_id: string; seconds: number }>("SELECT * FROM usage");
    assert.deepEqual(
      usage.map(({ session_id }) => session_id),
      [since.sessionId],
    );
    const filters = [bare, changed, since].map(
      ({ sessionId }) => facts().find(({ id }) => id === sessionId)?.filter,
    );
    assert.deepEqual(filters, [null, null, "pro"]);
  });

  test("the session says what became of the filter, and whether the bot uses it changes nothing", async () => {
    for (const [isFiltered, state] of [
      [true, "ran"],
      [false, "not-attached"],
    ] as const) {
      const { sessionId, socket } = await openCall(service, "filtered", {
        body: { isFiltered, truthFolder },
      });
      for (let sent = 0; sent < 55; sent += 1) {
        socket.socket.send(frameOfSilence());
        await pause(20); // as a microphone does
      }
      socket.socket.close();
      await service.sessionEnded(sessionId);
      const { filter, seconds } = await service.api.sessions.get("filtered", sessionId);
      assert.deepEqual([filter?.model, filter?.state, filter?.billed], ["tel", state, true]);
      assert.equal(
        filter?.warning?.startsWith("Billed, but the bot never attached"),
        isFiltered ? undefined : true,
      );
      assert.equal(filter?.framesFiltered, filter?.framesIn);
      assert.equal((filter?.framesFiltered ?? 0) >= 50, isFiltered);
      const [row] = service.rows<{ seconds: number }>("SELECT * FROM usage WHERE session_id = ?", sessionId);
      assert.ok(row && row.seconds === seconds && row.seconds >= 1);
    }
  });

  test(`${SESSIONS} sessions, ${CONTROLLER_KILLS} dead controllers, ${INSTANCE_KILLS} dead instances`, async (context) => {
    const random = createRandom(SEED);
    const connected: string[] = [];
    const killed = new Set<string>();
    let begun = 0;
    let refused = 0;

    async function caller(): Promise<void> {
      while (connected.length < SESSIONS) {
        const lengthMs = 100 + Math.floor(random() * 1_500);
        begun += 1;
        try {
          const { sessionId, socket } = await openCall(service, "filtered", {
            body: { ...body, isFiltered: true },
          });
          connected.push(sessionId);
          const over = socket.closed(60_000).catch(() => undefined);
          await Promise.race([over, pause(lengthMs)]);
          socket.socket.close();
          await over;
        } catch {
          refused += 1; // by a controller that just died: the caller dials again
          await pause(50);
        }
      }
    }

    async function killControllers(): Promise<void> {
      for (let kill = 1; kill <= CONTROLLER_KILLS; kill += 1) {
        await until(
          () => connected.length >= (kill * SESSIONS) / (CONTROLLER_KILLS + 1),
          200_000,
          "progress",
        );
        await service.replaceController();
      }
    }

    async function killInstances(): Promise<void> {
      for (let kill = 1; kill <= INSTANCE_KILLS; kill += 1) {
        await until(() => connected.length >= (kill * SESSIONS) / (INSTANCE_KILLS + 2), 200_000, "progress");
        const victim = await until(
          () =>
            service
              .rows<{ id: string; instance_id: string }>(
                `SELECT sessions.id, instance_id FROM sessions JOIN agents ON agents.id = agent_id
                 WHERE sessions.state = 'active' AND agents.name = 'filtered' ORDER BY active_at DESC`,
              )
              .find(({ id }) => hasSignOfLife(id)),
          20_000,
          "session to be struck",
        );
        const file = join(service.dataFolder, "instances", victim.instance_id, "process.json");
        try {
          const { pid } = JSON.parse(readFileSync(file, "utf8")) as { pid: number };
          process.kill(pid, "SIGKILL");
          killed.add(victim.id);
        } catch {
          kill -= 1; // it was over before; another one
        }
      }
    }

    await Promise.all([...Array.from({ length: CALLERS }, caller), killControllers(), killInstances()]);
    await until(
      () =>
        facts().every(
          ({ state, agent }) => agent !== "filtered" || !/^(starting|active|stopping)$/.test(state),
        ),
      60_000,
      "end of every session",
    );
    const sessions = facts().filter(({ agent }) => agent === "filtered");
    const ended = sessions.filter(({ state }) => state === "ended");
    const lost = ended.filter(({ end_reason }) => end_reason === "instance-lost");
    context.diagnostic(
      `seed ${SEED}: ${begun} dialled, ${refused} refused, ${ended.length} ended, ${lost.length} lost, ${killed.size} struck`,
    );
    assert.ok(connected.length >= SESSIONS && killed.size === INSTANCE_KILLS);
    for (const id of connected)
      assert.ok(
        ended.some((session) => session.id === id),
        `session ${id} was connected and is closed`,
      );
    for (const { id } of lost) {
      assert.ok(killed.has(id), `session ${id} was lost by itself`);
      const { filter } = await service.api.sessions.get("filtered", id);
      assert.deepEqual([filter?.model, filter?.billed], ["tel", true]);
    }

    // A controller that dies after the start and before its answer leaves a bot without a caller.
    const met = ended.filter(({ end_reason }) => end_reason !== "never-connected");
    for (const id of connected)
      assert.ok(
        met.some((session) => session.id === id),
        `${id} had its caller`,
      );
    for (const session of met) {
      const billedMs = (session.seconds ?? 0) * 1_000;
      const shortMs = truthMs(session) - billedMs;
      assert.ok(shortMs >= -TOLERANCE_MS - CLOCKS_MS, `${session.id}: billed ${-shortMs} ms too much`);
      const allowedMs = session.end_reason === "instance-lost" ? LOST_MS : TOLERANCE_MS + CLOCKS_MS;
      assert.ok(shortMs <= allowedMs, `${session.id}: billed ${shortMs} ms too little`);
    }
    for (const { state, seconds } of sessions.filter((session) => session.state !== "ended"))
      assert.ok(!seconds, `a ${state} session bills nothing`);
  });

  test("the sum is the sum of the rows, none twice, in the interface as in the table", async () => {
    const rows = service.rows<{ session_id: string; period: string; seconds: number }>("SELECT * FROM usage");
    assert.equal(new Set(rows.map(({ session_id, period }) => `${session_id}:${period}`)).size, rows.length);
    const billed = facts().filter(({ filter, seconds }) => filter !== null && (seconds ?? 0) > 0);
    assert.deepEqual(new Set(rows.map(({ session_id }) => session_id)), new Set(billed.map(({ id }) => id)));
    const sum = rows.reduce((total, { seconds }) => total + seconds, 0);
    assert.equal(
      sum,
      billed.reduce((total, { seconds }) => total + (seconds ?? 0), 0),
    );

    const months = [...new Set(rows.map(({ period }) => period))];
    const reports = await Promise.all(months.map((month) => service.api.usage(month)));
    assert.equal(
      reports.reduce((total, { seconds }) => total + seconds, 0),
      sum,
    );
    for (const report of reports) {
      assert.equal(report.minutes, Math.ceil(report.seconds / 60));
      assert.equal(
        report.agents.reduce((total, { seconds }) => total + seconds, 0),
        report.seconds,
      );
    }
    const tables = await Promise.all(months.map((month) => service.api.usageCsv(month)));
    const lines = tables
      .flatMap((table) => table.trim().split("\r\n").slice(1))
      .map((line) => line.split(","))
      .filter(([kind]) => kind === "usage");
    assert.deepEqual(
      new Map(lines.map((line) => [`${line[2]}:${line[1]}`, Number(line[7])])),
      new Map(rows.map(({ session_id, period, seconds }) => [`${session_id}:${period}`, seconds])),
    );
  });
});

test("a service without an engine bills nothing for the filter, not even for what was lost", async () => {
  await using service = await startServiceProcess({ hasVoiceEngine: false, timing: { reconcileMs: 200 } });
  assert.deepEqual(await service.api.voiceFilter(), { engine: "absent" });
  await service.deploy({ name: "filtered", files: ECHO_BOT, vendorViva: { audioFilter: "tel" } });
  for (const isLost of [false, true]) {
    const { sessionId, socket } = await openCall(service, "filtered", { body: { isFiltered: true } });
    await pause(1_100);
    if (isLost) for (const pid of service.instancePids()) process.kill(pid, "SIGKILL");
    else socket.socket.close();
    await service.sessionEnded(sessionId);
    const { filter, seconds } = await service.api.sessions.get("filtered", sessionId);
    assert.deepEqual([filter?.model, filter?.state, filter?.billed], ["tel", "unavailable", false]);
    assert.match(filter?.warning ?? "", /^Not filtered and not billed/);
    if (!isLost) assert.ok((seconds ?? 0) >= 1);
  }
  assert.deepEqual(service.rows("SELECT * FROM usage"), []);
});

function frameOfSilence(): Uint8Array {
  const audio = new Uint8Array(640);
  return encodeFrame({ kind: "audio", id: 0, name: "", audio, sampleRateHz: 16_000, channels: 1 });
}
