import pg from "pg";
import { readdirSync, readFileSync } from "node:fs";
import { startServiceProcess, type ServiceProcess } from "../../../e2e/harness/service-process.ts";
import { startTestPostgres } from "../../../packages/store/src/testing/test-postgres.ts";
import { until } from "../../../testing/wait.ts";
import { pause } from "../../machine/child.ts";
import { prefer } from "../../machine/cores.ts";
import { readUsage } from "../../machine/usage.ts";
import { startPretendedCluster, type PretendedCluster } from "./cluster.ts";

/** The hosted service on a Postgres that forgets nothing, with instances that only pretend. */
export interface PretendedService extends AsyncDisposable {
  service: ServiceProcess;
  cluster: PretendedCluster;
  postgres: PretendedPostgres;
  /** Adds agents until there are this many ready and unused instances, and everything rests. */
  fill(ready: number): Promise<void>;
  /** Reads one figure of the controller for Prometheus. */
  metric(name: string): Promise<number>;
}

export interface PretendedPostgres {
  url: string;
  /** Statements that were sent so far, the beginnings and ends of transactions included. */
  statements(): Promise<number>;
  cpuMs(): number;
  rows<Row>(sql: string, values?: unknown[]): Promise<Row[]>;
}

export const POOL = 50; // as many as an agent may have
const FILL_MS = 600_000;
const SETTLE_MS = 6_000; // the last news, and a heartbeat of every instance

export async function startPretendedService(
  openCluster: () => Promise<PretendedCluster> = startPretendedCluster,
): Promise<PretendedService> {
  await using stack = new AsyncDisposableStack();
  const postgres = await startMeasuredPostgres(stack);
  const cluster = stack.use(await openCluster());
  const service = stack.use(
    await startServiceProcess({
      environment: {
        ...cluster.environment,
        VOCALHOST_DATABASE_URL: postgres.url,
        VOCALHOST_QUOTA_INSTANCES: "1000000",
        VOCALHOST_QUOTA_STARTS_PER_SECOND: "1000000",
      },
      hasVoiceEngine: false,
    }),
  );
  let agents = 0;
  async function fill(ready: number): Promise<void> {
    for (let count = await readyInstances(postgres); count < ready; count += POOL) {
      const serviceName = `bench-${++agents}`;
      const pool = Math.min(POOL, ready - count);
      const autoScaling = { minAgents: pool, maxAgents: pool };
      await service.api.agents.create({ serviceName, image: cluster.image, autoScaling });
    }
    await until(async () => (await readyInstances(postgres)) >= ready, FILL_MS, `${ready} ready instances`);
    await until(async () => (await unsettled(postgres)) === 0, FILL_MS, "instances on their way");
    await pause(SETTLE_MS);
  }
  async function metric(name: string): Promise<number> {
    const url = `${service.apiUrl.replace(/\/v1$/, "")}/metrics`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${service.privateKey}` } });
    const [, value] = new RegExp(`^${name} (\\S+)$`, "m").exec(await answer.text()) ?? [];
    return Number(value);
  }
  const owned = stack.move();
  return { service, cluster, postgres, fill, metric, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function startMeasuredPostgres(stack: AsyncDisposableStack): Promise<PretendedPostgres> {
  const server = stack.use(
    await startTestPostgres({
      settings: {
        ...{ fsync: "on", full_page_writes: "on", shared_buffers: "128MB" },
        shared_preload_libraries: "pg_stat_statements",
      },
    }),
  );
  prefer(server.pid());
  prefer(process.pid); // and with us the service, which is of our session
  const client = new pg.Client({ connectionString: server.url });
  client.on("error", () => undefined); // it ends with its server
  await client.connect();
  stack.defer(() => client.end());
  await client.query("CREATE EXTENSION pg_stat_statements");
  const rows = async <Row>(sql: string, values: unknown[] = []): Promise<Row[]> =>
    (await client.query(sql, values)).rows as Row[];
  return {
    url: server.url,
    rows,
    async statements() {
      const [row] = await rows<{ calls: string }>("SELECT sum(calls) AS calls FROM pg_stat_statements");
      return Number(row?.calls);
    },
    cpuMs: () => cpuMsOfFamily(server.pid()),
  };
}

function readyInstances(postgres: PretendedPostgres): Promise<number> {
  return countInstances(postgres, "state = 'ready' AND session_id IS NULL");
}

function unsettled(postgres: PretendedPostgres): Promise<number> {
  return countInstances(postgres, "state IN ('requested', 'starting', 'draining')");
}

async function countInstances(postgres: PretendedPostgres, which: string): Promise<number> {
  const sql = `SELECT count(*)::int AS count FROM instances WHERE ${which}`;
  const [row] = await postgres.rows<{ count: number }>(sql);
  return row?.count ?? 0;
}

/** One name of an agent for each ready instance, agents in turn. */
export async function freeAgents({ postgres }: Pick<PretendedService, "postgres">): Promise<string[]> {
  const rows = await postgres.rows<{ name: string }>(
    `SELECT a.name FROM instances i JOIN agents a ON a.id = i.agent_id
     WHERE i.state = 'ready' AND i.session_id IS NULL
     ORDER BY row_number() OVER (PARTITION BY a.name), a.name`,
  );
  return rows.map(({ name }) => name);
}

const TICK_MS = 10;
const PARENT_FIELD = 1; // of /proc/…/stat, behind the name
const REAPED_FIELDS = [13, 14];

/** A process, its children, and those that have ended. */
function cpuMsOfFamily(pid: number): number {
  const children = readdirSync("/proc")
    .map(Number)
    .filter((each) => each > 0 && Number(statOf(each)[PARENT_FIELD]) === pid);
  const reapedMs = REAPED_FIELDS.reduce((sum, field) => sum + Number(statOf(pid)[field]) * TICK_MS, 0);
  return [pid, ...children].reduce((sum, each) => sum + cpuMsOf(each), reapedMs);
}

function cpuMsOf(pid: number): number {
  try {
    return readUsage(pid).cpuMs;
  } catch {
    return 0; // it has just ended
  }
}

function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
  } catch {
    return [];
  }
}
