// The cost of a long history for requests about the present.
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startServiceProcess, type ServiceProcess } from "../../e2e/harness/service-process.ts";
import { until } from "../../testing/wait.ts";
import { pause } from "../machine/child.ts";
import { coresUsed, readUsage } from "../machine/usage.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure, median, ratio } from "../report/statistics.ts";
import { placeCall } from "./call.ts";

const SESSIONS = 300_000;
const PER_TRANSACTION = 5_000;
const APART_MS = 100_000; // a year of them
const TIMES = 20;
const IDLE_MS = 8_000;
const BOT = readFileSync(new URL("entered-bot.ts", import.meta.url), "utf8");

type Fields = Record<string, SQLInputValue>;

export const history: Benchmark = {
  name: "history",
  about: `the hosted service with ${SESSIONS} sessions behind it …`,
  async run() {
    await using service = await startServiceProcess();
    await service.deploy({
      name: "bench",
      files: { "bot.ts": BOT },
      autoScaling: { minAgents: 1, maxAgents: 5 },
    });
    (await placeCall(service, "bench"))[Symbol.dispose]();
    await until(() => ended(service), 20_000, "end of the first session");
    const before = await measure(service);
    fill(service);
    const after = await measure(service);
    const row = (what: string, name: keyof Measured, target?: number): Row => ({
      what: `${what}, ${SESSIONS / 1000},000 sessions later`,
      measured: `${figure(after[name])} ms (${ratio(after[name], before[name])})`,
      baseline: `${figure(before[name])} ms`,
      ...(target ? { target: `≤ ${target} × as at first`, met: after[name] <= before[name] * target } : {}),
    });
    return [
      row("agent record", "agentMs", 1.5),
      row("sessions that run, first page", "activeMs", 1.5),
      row("all sessions, first page and count", "allMs"),
      {
        what: `idle controller, ${SESSIONS / 1000},000 sessions later`,
        target: "≤ 2 % of a core",
        measured: `${figure(after.idleCores * 100)} %`,
        baseline: `${figure(before.idleCores * 100)} %`,
        met: after.idleCores <= 0.02,
      },
    ];
  },
};

interface Measured {
  agentMs: number;
  activeMs: number;
  allMs: number;
  idleCores: number;
}

async function measure(service: ServiceProcess): Promise<Measured> {
  await pause(2_000);
  const usage = readUsage(service.pid("controller"));
  await pause(IDLE_MS);
  const idleCores = coresUsed(usage, readUsage(service.pid("controller")));
  return {
    idleCores,
    agentMs: await medianMs(() => service.api.agents.get("bench")),
    activeMs: await medianMs(() => service.api.sessions.list("bench", { limit: 50, status: "active" })),
    allMs: await medianMs(() => service.api.sessions.list("bench", { limit: 50 })),
  };
}

async function medianMs(ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < TIMES; count++) {
    const askedMs = performance.now();
    await ask();
    times.push(performance.now() - askedMs);
  }
  return median(times);
}

function ended(service: ServiceProcess): boolean {
  return service.rows("SELECT id FROM sessions WHERE state = 'ended'").length > 0;
}

/** Copies of the one session that was, and of its instance, back into the past. */
function fill(service: ServiceProcess): void {
  using database = new DatabaseSync(join(service.dataFolder, "vocalhost.db"));
  database.exec("PRAGMA busy_timeout = 10000");
  const session = database.prepare("SELECT * FROM sessions WHERE state = 'ended'").get() as Fields;
  const instance = database
    .prepare("SELECT * FROM instances WHERE id = ?")
    .get(session["instance_id"] ?? null) as Fields;
  for (let from = 1; from <= SESSIONS; from += PER_TRANSACTION) {
    database.exec("BEGIN IMMEDIATE");
    for (let count = from; count < from + PER_TRANSACTION; count++) {
      const ids = { session_id: idOf(count, "b"), instance_id: idOf(count, "a") };
      insert(database, "instances", {
        ...aged(instance, count),
        state: "stopped",
        id: ids.instance_id,
        session_id: ids.session_id,
      });
      insert(database, "sessions", {
        ...aged(session, count),
        id: ids.session_id,
        instance_id: ids.instance_id,
      });
    }
    database.exec("COMMIT");
  }
}

function aged(row: Fields, count: number): Fields {
  const times = Object.entries(row).filter(([name, value]) => name.endsWith("_at") && value !== null);
  return { ...row, ...Object.fromEntries(times.map(([name, at]) => [name, Number(at) - count * APART_MS])) };
}

function insert(database: DatabaseSync, table: string, row: Fields): void {
  const names = Object.keys(row);
  database
    .prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`)
    .run(...Object.values(row));
}

function idOf(count: number, kind: string): string {
  return `${count.toString(16).padStart(8, "0")}-0000-4000-8000-00000000000${kind}`;
}
