import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startServiceProcess, type ServiceOptions, type ServiceProcess } from "../harness/service-process.ts";
import { until } from "../../testing/wait.ts";
import { faultBot, openTruthFile, readTruth, type Truth } from "./fault-bot.ts";

/** The service with what is needed to break it and to see what is left. */
export interface FaultService {
  readonly service: ServiceProcess;
  truth(): Truth[];
  /** Files of the bot that keeps the truth. */
  bot(version?: string): Record<string, string>;
  /** The controller kills itself the next time it passes this moment. */
  arm(failpoint: string): void;
  /** Resolves when it has, and the next one serves. */
  fired(): Promise<void>;
  /** Resolves when requests are served. */
  ready(): Promise<void>;
  session(id: string): SessionFacts;
  /** Everything that runs as an instance of this service, remembered or not. */
  instancesAlive(): AliveInstance[];
  /** False while another connection holds the database's lock. */
  isWritable(): boolean;
  /** Changes a row by hand, where the interface does not let time be compressed. */
  write(sql: string, ...values: (string | number)[]): void;
}

export interface AliveInstance {
  pid: number;
  id: string;
}

export interface SessionFacts {
  id: string;
  state: string;
  instance_id: string | null;
  active_at: number | null;
  end_reason: string | null;
  seconds: number | null;
}

const READY_MS = 30_000;

export async function startFaultService(
  stack: AsyncDisposableStack,
  options: ServiceOptions = {},
): Promise<FaultService> {
  const triggerFile = join(stack.use(temporaryFolder()).path, "failpoint");
  const service = stack.use(
    await startServiceProcess({
      ...options,
      timing: { restartMs: [20], ...options.timing },
      environment: { VOCALHOST_FAILPOINT_FILE: triggerFile, ...options.environment },
    }),
  );
  const truthFile = openTruthFile(service.dataFolder);
  const database = join(service.dataFolder, "vocalhost.db");

  async function ready(): Promise<void> {
    const url = `${service.apiUrl.replace(/\/v1$/, "")}/readyz`;
    await until(
      () =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ),
      READY_MS,
      "ready service",
    );
  }

  return {
    service,
    truth: () => readTruth(truthFile),
    bot: (version) => faultBot({ truthFile, ...(version === undefined ? {} : { version }) }),
    arm: (failpoint) => writeFileSync(triggerFile, failpoint),
    async fired() {
      await until(
        () => !existsSync(triggerFile),
        READY_MS,
        `death at ${existsSync(triggerFile) && readFileSync(triggerFile, "utf8")}`,
      );
      await ready();
    },
    ready,
    session(id) {
      const [row] = service.rows<SessionFacts>("SELECT * FROM sessions WHERE id = ?", id);
      if (!row) throw new Error(`There is no session ${id}`);
      return row;
    },
    instancesAlive: () => instancesAlive(service.dataFolder),
    isWritable() {
      using writer = new DatabaseSync(database, { timeout: 0 });
      try {
        writer.exec("BEGIN IMMEDIATE; ROLLBACK");
        return true;
      } catch {
        return false;
      }
    },
    write(sql, ...values) {
      using writer = new DatabaseSync(database, { timeout: 5_000 });
      writer.prepare(sql).run(...values);
    },
  };
}

/** By what the process was started with, so that an unrecorded one is found too. */
export function instancesAlive(dataFolder: string): AliveInstance[] {
  const mark = `VOCALHOST_INSTANCE_FOLDER=${join(dataFolder, "instances")}/`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const pid = Number(name);
      const folder = readProc(pid, "environ")
        .split("\0")
        .find((variable) => variable.startsWith(mark));
      if (folder === undefined || /^State:\s+Z/m.test(readProc(pid, "status"))) return [];
      return [{ pid, id: folder.slice(mark.length) }];
    });
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // it is gone
  }
}

function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "vocalhost-fault-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
