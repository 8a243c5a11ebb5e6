import { createApiClient, type AgentRecord, type ApiClient, type CreateAgent } from "@vocalhost/protocol";
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { patientMs } from "../../testing/patience.ts";
import { createKey } from "../../packages/control-plane/src/identity/key-format.ts";
import { until } from "../../testing/wait.ts";
import { buildBot } from "./build-bot.ts";
import { watchProcess, type WatchedProcess } from "./watched-process.ts";
import { nodeFlags, programOf } from "../../testing/programs.ts";

/** The hosted service with its own data folder, as an operator would start it. */
export interface ServiceProcess extends WatchedProcess {
  readonly apiUrl: string;
  /** Environment variables of its process. */
  readonly environment: NodeJS.ProcessEnv;
  readonly dataFolder: string;
  readonly privateKey: string;
  readonly publicKey: string;
  readonly organization: string;
  /** With the private key. */
  readonly api: ApiClient;
  /** With the public key. */
  readonly publicApi: ApiClient;
  /** Builds the bot, unless it is in an image or was built before, and deploys it; resolves when it takes sessions. */
  deploy(agent: DeployOptions): Promise<void>;
  /** Resolves when the agent's newest deployment has proved itself; throws what its record complains of. */
  ready(name: string, isWanted?: (record: AgentRecord) => boolean): Promise<AgentRecord>;
  /** Builds only; gives the build's id. */
  build(files: Record<string, string>, region?: string): Promise<string>;
  pid(name: "gateway" | "controller"): number;
  /** Kills the controller and resolves when the next one serves. */
  replaceController(): Promise<void>;
  /** Pids of the instances that run. */
  instancePids(): number[];
  /** Resolves with the reason when the session is closed. */
  sessionEnded(sessionId: string, timeoutMs?: number): Promise<string>;
  /** Everything known of a session, for the message of a failed test. */
  knownOf(sessionId: string): string;
  /** Rows of the database, as they are. */
  rows<Row>(sql: string, ...values: string[]): Row[];
  /** Its supervisor only, so that the data folder can be looked at. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  environment?: Record<string, string>;
  /** Compresses time. */
  timing?: Record<string, number | number[]>;
  /** Taken over from an earlier service. */
  dataFolder?: string;
  /** Put before its command, to run it in another network. */
  within?: readonly string[];
  /** Arguments of the command line. */
  args?: string[];
  /** Whether it can run the voice filter, with an engine that changes nothing. @default true */
  hasVoiceEngine?: boolean;
}

export interface DeployOptions extends Omit<CreateAgent, "serviceName" | "buildId"> {
  name: string;
  /** Files of the bot's folder; a `bot.ts` at least. Without them there must be an image. */
  files?: Record<string, string>;
}

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const VOICE_ENGINE = fileURLToPath(new URL("../engines/pass-through-engine.ts", import.meta.url));
const READY_MS = 60_000;
const DEMAND_MS = 1_000; // tests call often, and what is kept in reserve for the next call takes from this one

/** Starts it on a free port and resolves when it serves. */
export async function startServiceProcess(options: ServiceOptions = {}): Promise<ServiceProcess> {
  const dataFolder = options.dataFolder ?? mkdtempSync(join(tmpdir(), "vocalhost-service-"));
  const environment = {
    ...process.env,
    VOCALHOST_PORT: "0",
    VOCALHOST_STARTS_PER_MINUTE: "1000000", // tests call more often than people
    VOCALHOST_READS_PER_MINUTE: "1000000",
    VOCALHOST_CHANGES_PER_MINUTE: "1000000",
    VOCALHOST_DATA_DIR: dataFolder,
    VOCALHOST_VIVA_ENGINE: options.hasVoiceEngine === false ? "none" : VOICE_ENGINE,
    VOCALHOST_TIMING: JSON.stringify({ demandMs: DEMAND_MS, ...options.timing }),
    ...options.environment,
  };
  const [program, ...before] = [...(options.within ?? []), process.execPath];
  const child = spawn(
    program,
    [...before, ...nodeFlags, programOf("control-plane", "main/up-main"), ...(options.args ?? [])],
    {
      cwd: existsSync(dataFolder) ? dataFolder : REPOSITORY,
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const watched = watchProcess(child, "service");
  await watched.printed(/Vocalhost is running/).catch(async (error: unknown) => {
    await watched.end("SIGKILL");
    throw error;
  });
  const [, apiUrl = ""] = await watched.printed(/API\s+(http\S+)/);
  const { privateKey, publicKey, organization } = JSON.parse(
    readFileSync(join(dataFolder, "first-run.json"), "utf8"),
  ) as Record<"privateKey" | "publicKey" | "organization", string>;
  const api = createApiClient({ baseUrl: apiUrl, token: privateKey });

  function pid(name: string): number {
    const lines = [...watched.output().matchAll(/"name":"([a-z]+)","pid":(\d+),"msg":"process started"/g)];
    const last = lines.findLast(([, each]) => each === name);
    if (!last) throw new Error(`No ${name} in:\n${watched.output()}`);
    return Number(last[2]);
  }

  const build = (files: Record<string, string>, region?: string): Promise<string> =>
    buildBot(api, files, region);
  const builds = new Map<string, Promise<string>>(); // the same files are the same bot
  function buildOnce(files: Record<string, string>): Promise<string> {
    const key = JSON.stringify(files);
    const built = builds.get(key) ?? build(files);
    builds.set(key, built);
    return built;
  }

  async function ready(
    name: string,
    isWanted: (record: AgentRecord) => boolean = () => true,
  ): Promise<AgentRecord> {
    return until(
      async () => {
        const record = await api.agents.get(name);
        if (record.errors?.length) throw new Error(JSON.stringify(record.errors));
        return record.ready && isWanted(record) && record;
      },
      READY_MS,
      `ready ${name}`,
    ).catch((error: unknown) => {
      const troubles = watched
        .output()
        .split("\n")
        .filter((line) => /"level":[4-9]0/.test(line));
      throw new Error(`${String(error)}\n${troubles.slice(-20).join("\n")}`, { cause: error });
    });
  }

  function rows<Row>(sql: string, ...values: string[]): Row[] {
    using database = new DatabaseSync(join(dataFolder, "vocalhost.db"), {
      readOnly: true,
      timeout: 5_000, // a database whose owner was killed is locked while the next one recovers it
    });
    return database.prepare(sql).all(...values) as Row[];
  }

  function knownOf(sessionId: string): string {
    const [session] = rows<{ instance_id: string | null }>("SELECT * FROM sessions WHERE id = ?", sessionId);
    const instanceId = session?.instance_id ?? sessionId;
    const said = watched
      .output()
      .split("\n")
      .filter((line) => line.includes(sessionId) || line.includes(instanceId));
    const instances = rows("SELECT * FROM instances WHERE id = ?", instanceId);
    const lines = rows("SELECT text FROM log_lines WHERE instance_id = ? ORDER BY position", instanceId);
    return [session, ...instances, ...lines, ...said].map((each) => JSON.stringify(each)).join("\n");
  }

  return Object.assign(watched, {
    apiUrl,
    environment,
    dataFolder,
    privateKey,
    publicKey,
    organization,
    api,
    publicApi: createApiClient({ baseUrl: apiUrl, token: publicKey }),
    build,
    async deploy({ name, files, ...agent }: DeployOptions) {
      const built = files ? { buildId: await buildOnce(files) } : {};
      await api.agents.create({ ...agent, serviceName: name, ...built });
      await ready(name, ({ available }) => available);
    },
    ready,
    pid,
    async replaceController() {
      const before = pid("controller");
      process.kill(before, "SIGKILL");
      await until(() => pid("controller") !== before, READY_MS, "new controller");
      await until(
        () => fetch(`${apiUrl.replace(/\/v1$/, "")}/readyz`).then(({ ok }) => ok),
        READY_MS,
        "ready service",
      );
    },
    instancePids: () => instancePids(dataFolder),
    rows,
    knownOf,
    sessionEnded: (sessionId: string, timeoutMs = 20_000) =>
      until(
        () =>
          rows<{ end_reason: string | null }>("SELECT end_reason FROM sessions WHERE id = ?", sessionId)[0]
            ?.end_reason ?? undefined,
        timeoutMs,
        `end of session ${sessionId}`,
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${knownOf(sessionId)}`, { cause: error });
      }),
    async stop() {
      await watched.end();
    },
    async [Symbol.asyncDispose]() {
      const timer = setTimeout(() => child.kill("SIGKILL"), patientMs(15_000));
      await watched.end();
      clearTimeout(timer);
      if (!options.dataFolder) rmSync(dataFolder, { recursive: true, force: true });
    },
  });
}

function instancePids(dataFolder: string): number[] {
  const folder = join(dataFolder, "instances");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((id) => {
    try {
      const { pid } = JSON.parse(readFileSync(join(folder, id, "process.json"), "utf8")) as { pid: number };
      return isRunning(pid) ? [pid] : [];
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (["ENOENT", "ENOTDIR"].includes(code)) return []; // not yet, forgotten meanwhile, or no instance
      throw error;
    }
  });
}

/** A second organisation with a key of each kind, written beside the running service. */
export function addOrganization(
  { dataFolder }: Pick<ServiceProcess, "dataFolder">,
  name: string,
): { privateKey: string; publicKey: string } {
  using database = new DatabaseSync(join(dataFolder, "vocalhost.db"), { timeout: 5_000 });
  const id = randomUUID();
  database
    .prepare(
      `INSERT INTO organizations SELECT ${columnsOf(database, "organizations", { id, name })}
       FROM organizations WHERE name = 'main'`,
    )
    .run();
  const keyOf = (kind: "private" | "public"): string => {
    const value = createKey(kind);
    const sha256 = createHash("sha256").update(value).digest("hex");
    const changes = { id: randomUUID(), organization_id: id, sha256, last_four: value.slice(-4) };
    database
      .prepare(
        `INSERT INTO api_keys SELECT ${columnsOf(database, "api_keys", changes)} FROM api_keys WHERE kind = ? LIMIT 1`,
      )
      .run(kind);
    return value;
  };
  return { privateKey: keyOf("private"), publicKey: keyOf("public") };
}

/** Every column of a row to be copied, with some of them replaced. */
function columnsOf(database: DatabaseSync, table: string, changes: Record<string, string>): string {
  const columns = database.prepare(`PRAGMA table_info(${table})`).all() as { name: string }[];
  return columns.map(({ name }) => (name in changes ? `'${changes[name]}'` : name)).join(", ");
}

export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
