// Calls come and go while controllers, gateways, bots and the database are killed at any moment: two minutes on each
// database, or as long as `VOCALHOST_TEST_MINUTES` says, for a night.
import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort } from "../../testing/free-port.ts";
import { patientMs } from "../../testing/patience.ts";
import { createRandom } from "../../testing/random.ts";
import { eventually, pause, until } from "../../testing/wait.ts";
import {
  postgresIsMissing,
  startTestPostgres,
  type TestPostgres,
} from "../../packages/store/src/testing/test-postgres.ts";
import { isRunning, startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { openBook, type Book } from "./endurance/book.ts";
import { createCallers, type Callers } from "./endurance/callers.ts";
import { faultBot, openTruthFile, readTruth } from "./fault-bot.ts";
import { instancesAlive } from "./fault-service.ts";

const MINUTES = Number(process.env["VOCALHOST_TEST_MINUTES"] ?? 2);
const AGENT = "echo";
const CALLERS = 4;
const AUTO_SCALING = { minAgents: 3, maxAgents: 8 };
const LIVE = ["requested", "starting", "ready", "busy", "draining"];
const OPEN = ["pending", "starting", "active", "stopping"];
const CLOCKS_S = patientMs(100) / 1000; // the truth is put together from two of them

/** How often each of them dies, in seconds from one death to the next, evenly spread. */
const DEATHS = { controller: [0.3, 8], bot: [5, 30], gateway: [40, 90], database: [30, 90] } as const;

for (const database of ["SQLite", "Postgres"] as const)
  test(
    `${MINUTES} minutes of kills on ${database}`,
    { skip: database === "Postgres" && postgresIsMissing() },
    async (context) => {
      const seed = Number(process.hrtime.bigint() % 1_000_000n);
      const random = createRandom(seed);
      await using stack = new AsyncDisposableStack();
      const postgres =
        database === "Postgres"
          ? stack.use(await startTestPostgres({ settings: { fsync: "on", full_page_writes: "on" } }))
          : undefined;
      const service = stack.use(
        await startServiceProcess({
          timing: { restartMs: [20], connectDeadlineMs: 3_000, socketTokenMs: 20_000 },
          environment: {
            VOCALHOST_PORT: String(await freePort()), // the next gateway must be where the one before was
            ...(postgres && { VOCALHOST_DATABASE_URL: postgres.url }),
          },
        }),
      );
      const truthFile = openTruthFile(service.dataFolder);
      await service.deploy({
        name: AGENT,
        files: faultBot({ truthFile }),
        autoScaling: AUTO_SCALING,
        vendorViva: { audioFilter: "tel" },
      });
      const book = stack.use(await openBook(service, postgres?.url));
      const callers = createCallers(service, AGENT, random);
      const calling = callers.run(CALLERS);
      const deaths = await killForAWhile({ service, callers, random, postgres, book });
      callers.end();
      await calling;
      await until(() => isReady(service), 30_000, "ready service");
      await settled(service, book);
      const sessions = await book.rows("sessions");
      context.diagnostic(
        `seed ${seed}: ${sessions.length} sessions (${callers.stopped.length} started and stopped, ${callers.finished.length} calls to their end, ${callers.struck.size} struck), ${callers.refused} times refused for now; killed: ${JSON.stringify(deaths)}`,
      );
      assert.deepEqual(callers.faults, []);
      await checkSessions(book, callers, readTruth(truthFile));
    },
  );

interface Setting {
  service: ServiceProcess;
  callers: Callers;
  random: () => number;
  postgres: TestPostgres | undefined;
  book: Book;
}

type Deaths = Record<keyof typeof DEATHS, number>;

async function killForAWhile({ service, callers, random, postgres, book }: Setting): Promise<Deaths> {
  const endMs = performance.now() + MINUTES * 60_000;
  const count: Deaths = { controller: 0, bot: 0, gateway: 0, database: 0 };
  const kill: Record<keyof Deaths, () => Promise<boolean>> = {
    controller: () => strike(service.pid("controller")),
    async bot() {
      const calls = callers.open();
      const victim = calls[Math.floor(random() * calls.length)];
      if (!victim) return false;
      callers.struck.add(victim.sessionId);
      return strike(victim.pid);
    },
    async gateway() {
      const pid = service.pid("gateway");
      callers.strikeAll();
      await strike(pid);
      callers.strikeAll(); // those who came meanwhile
      return until(() => service.pid("gateway") !== pid, 30_000, "next gateway");
    },
    async database() {
      if (!postgres) return false;
      await postgres.restart(random() < 0.5 ? "immediate" : "fast");
      return true;
    },
  };
  const killAgainAndAgain = async (what: keyof Deaths): Promise<void> => {
    const [fromS, toS] = DEATHS[what];
    for (;;) {
      const waitMs = (fromS + random() * (toS - fromS)) * 1_000;
      if (performance.now() + waitMs > endMs) return;
      await pause(waitMs);
      if (await kill[what]()) count[what] += 1;
    }
  };
  const look = async (): Promise<void> => {
    while (performance.now() < endMs) {
      await pause(1_000);
      await checkNow(service, book);
    }
  };
  await Promise.all([look(), ...Object.keys(kill).map((what) => killAgainAndAgain(what as keyof Deaths))]);
  return count;
}

/** False if it had ended by itself. */
async function strike(pid: number): Promise<boolean> {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
  return until(() => !isRunning(pid), 10_000, `end of process ${pid}`);
}

/** At every moment: never more instances than allowed, no session on two of them. */
async function checkNow(service: ServiceProcess, book: Book): Promise<void> {
  const rows = await book.rows("instances").catch(() => undefined);
  if (!rows) return; // the database is away
  const live = rows.filter(({ state }) => LIVE.includes(state));
  assert.ok(live.length <= AUTO_SCALING.maxAgents, `${live.length} instances`);
  const alive = instancesAlive(service.dataFolder);
  assert.ok(alive.length <= AUTO_SCALING.maxAgents, `${alive.length} processes of instances`);
  const bound = live.flatMap(({ sessionId }) => sessionId ?? []);
  assert.equal(new Set(bound).size, bound.length, "two instances of one session");
}

/** Resolves when no session is open and no process is left without an instance. */
async function settled(service: ServiceProcess, book: Book): Promise<void> {
  await eventually({
    what: "end of every session, and of every process without an instance",
    look: async () => {
      const live = (await book.rows("instances")).filter(({ state }) => LIVE.includes(state));
      const known = new Set(live.map(({ id }) => id));
      return {
        open: (await book.rows("sessions")).filter(({ state }) => OPEN.includes(state)),
        strays: instancesAlive(service.dataFolder).filter(({ id }) => !known.has(id)),
      };
    },
    until: ({ open, strays }) => open.length === 0 && strays.length === 0,
    quietMs: 40_000,
  });
}

async function checkSessions(
  book: Book,
  callers: Callers,
  truth: ReturnType<typeof readTruth>,
): Promise<void> {
  const sessions = new Map((await book.rows("sessions")).map((row) => [row.id, row]));
  const started = truth.flatMap((each) => (each.event === "started" ? [each.sessionId] : []));
  assert.equal(new Set(started).size, started.length, "a bot was started twice for one session");
  for (const id of callers.finished) {
    const endReason = sessions.get(id)?.endReason;
    // Killed after it closed and before that was on record.
    if (endReason !== "instance-lost" || !callers.struck.has(id))
      assert.equal(endReason, "bot-finished", `call ${id}`);
  }
  for (const { sessionId } of callers.stopped)
    assert.notEqual(
      sessions.get(sessionId)?.activeAt ?? null,
      null,
      "a start was answered, so it was active",
    );
  for (const { id, endReason } of sessions.values())
    if (endReason === "instance-lost") assert.ok(callers.struck.has(id), `session ${id} was lost by itself`);

  const usage = await book.rows("usage");
  const keys = usage.map(({ sessionId, period }) => `${sessionId}:${period}`);
  assert.equal(new Set(keys).size, keys.length, "a session was billed twice");
  const billed = new Map<string, number>();
  for (const { sessionId, seconds } of usage) billed.set(sessionId, (billed.get(sessionId) ?? 0) + seconds);
  for (const each of truth) {
    if (each.event !== "ended") continue;
    const { boundAt, endReason } = sessions.get(each.sessionId) ?? {};
    const trueS = (each.endedAtMs - Number(boundAt)) / 1_000;
    const billedS = billed.get(each.sessionId) ?? 0; // what is shorter than a second costs nothing
    const tooMuchS = billedS - trueS;
    // A session killed before its end was on record is billed up to its last heartbeat.
    const isRight =
      tooMuchS <= 1 + CLOCKS_S && (endReason === "instance-lost" || tooMuchS >= -(1 + CLOCKS_S));
    assert.ok(isRight, `session ${each.sessionId}, ${endReason}: billed ${billedS} s of ${trueS} s`);
  }
}

async function isReady({ apiUrl }: ServiceProcess): Promise<boolean> {
  return fetch(`${apiUrl.replace(/\/v1$/, "")}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
