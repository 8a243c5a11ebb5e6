import {
  AppError,
  noFilterFigures,
  type AliveRecord,
  type ExitRecord,
  type FilterStatus,
  type InstanceStart,
  type InstanceStatus,
} from "@vocalhost/protocol";
import type { SeenInstance } from "@vocalhost/drivers/driver";
import { InstanceCallError } from "../pools/instances/instance-network.ts";
import type { Random } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The machine the bots run on: it goes on whatever happens to controllers, and remembers the truth. */
export interface Host {
  /** What every bot really did. */
  readonly truth: Map<string, BotRun>;
  readonly faults: string[];
  create(id: string, epoch: number): void;
  destroy(id: string, graceMs: number, epoch: number): Promise<void>;
  forget(id: string): void;
  fence(epoch: number): void;
  newestEpoch(): number;
  list(): SeenInstance[];
  status(id: string): InstanceStatus | undefined;
  start(id: string, request: InstanceStart): void;
  stop(id: string, sessionId: string, epoch: number): void;
  exitRecord(id: string, sessionId: string): ExitRecord | undefined;
  aliveRecord(id: string): AliveRecord | undefined;
  removeRecords(id: string): void;
  /** Something goes wrong with a random object. */
  strike(): void;
  /** One of so many machines goes down with all that runs there. */
  strikeNode(node: number, nodes: number): void;
  /** Objects that run now. */
  running(): string[];
}

export interface BotRun {
  instanceId: string;
  ackMs: number;
  endMs: number | undefined;
  /** Why it ended, as the host knows it. */
  end: "finished" | "stopped" | "deadline" | "killed" | "lost" | undefined;
  filter: FilterStatus | null;
  /** Gone with everything it had written. */
  recordsLost: boolean;
}

interface HostObject {
  id: string;
  readyAtMs: number;
  running: boolean;
  exitCode: number | null;
  epoch: number;
  run: (BotRun & { sessionId: string; ignoresStop: boolean; maxDurationMs: number }) | undefined;
  exit: ExitRecord | undefined;
  hasRecords: boolean;
}

export const HEARTBEAT_MS = 5_000;
const STOP_GRACE_MS = 5_000;

export function createHost(time: VirtualTime, random: Random): Host {
  const objects = new Map<string, HostObject>();
  const truth = new Map<string, BotRun>();
  const faults: string[] = [];
  let fencedEpoch = 0;
  const nowMs = (): number => time.monotonicMs();

  function requireEpoch(epoch: number): void {
    if (epoch < fencedEpoch) throw new AppError("EPOCH_STALE");
  }

  function endRun(object: HostObject, end: NonNullable<BotRun["end"]>, elapsedMs?: number): void {
    const { run } = object;
    if (!run || run.endMs !== undefined) return;
    run.endMs = elapsedMs === undefined ? nowMs() : run.ackMs + elapsedMs;
    run.end = end;
    if (end === "killed" || end === "lost") return;
    object.exit = {
      sessionId: run.sessionId,
      reason: end,
      elapsedMs: toldMs(run.sessionId, run.endMs - run.ackMs),
      endedAtMs: time.nowMs(),
      marks: {},
      filter: run.filter,
    };
    time.at(nowMs() + 200, () => exit(object, 0)); // one session per process life
  }

  function exit(object: HostObject, code: number | null): void {
    object.running = false;
    object.exitCode = code;
  }

  function kill(object: HostObject, end: "killed" | "lost"): void {
    if (!object.running) return;
    endRun(object, end);
    exit(object, null);
  }

  function askToEnd(object: HostObject, end: "stopped" | "deadline"): void {
    const { run } = object;
    if (!run || run.endMs !== undefined) return;
    const graceMs = run.ignoresStop ? STOP_GRACE_MS : random.between(0, 500);
    time.at(nowMs() + graceMs, () => object.running && endRun(object, end));
  }

  function lose(object: HostObject): void {
    if (random.chance(0.3)) {
      object.hasRecords = false;
      if (object.run) object.run.recordsLost = true;
    }
    kill(object, "lost");
  }

  return {
    truth,
    faults,
    fence(epoch) {
      fencedEpoch = Math.max(fencedEpoch, epoch);
    },
    newestEpoch: () => fencedEpoch,
    create(id, epoch) {
      requireEpoch(epoch);
      if (objects.has(id)) return;
      const crashes = random.chance(0.05);
      const readyAtMs = nowMs() + random.between(200, 3_000);
      const object: HostObject = {
        id,
        readyAtMs: crashes ? Infinity : readyAtMs,
        running: true,
        exitCode: null,
        epoch,
        run: undefined,
        exit: undefined,
        hasRecords: true,
      };
      objects.set(id, object);
      if (crashes) time.at(readyAtMs, () => exit(object, 1));
    },
    async destroy(id, graceMs, epoch) {
      requireEpoch(epoch);
      const object = objects.get(id);
      if (!object?.running) return;
      if (graceMs > 0 && object.run?.endMs === undefined) {
        askToEnd(object, "stopped");
        await time.sleep(graceMs);
      }
      kill(object, "killed");
    },
    forget: (id) => void objects.delete(id),
    list: () =>
      [...objects.values()].map((object) => ({
        id: object.id,
        state: object.running ? "running" : "exited",
        address: nowMs() >= object.readyAtMs ? `host:${object.id}` : undefined,
        exit: object.running
          ? undefined
          : { code: object.exitCode, signal: null, outOfMemory: false, lastOutput: "" },
      })),
    status(id) {
      const object = objects.get(id);
      if (!object?.running || nowMs() < object.readyAtMs) return undefined;
      const { run } = object;
      return {
        instanceId: id,
        epoch: object.epoch,
        ready: run === undefined,
        session: run
          ? {
              sessionId: run.sessionId,
              state: run.endMs === undefined ? "running" : "ended",
              elapsedMs: toldMs(run.sessionId, (run.endMs ?? nowMs()) - run.ackMs),
              marks: {},
              exit: object.exit ?? null,
            }
          : null,
        cpuMs: 0,
        memoryBytes: 0,
      };
    },
    start(id, request) {
      const object = objects.get(id);
      if (!object?.running || nowMs() < object.readyAtMs)
        throw new InstanceCallError("connection refused", "no");
      if (request.epoch < object.epoch) throw new InstanceCallError("stale epoch", "refused");
      object.epoch = request.epoch;
      if (object.run) {
        if (object.run.sessionId === request.sessionId) return;
        throw new InstanceCallError("runs another session", "refused");
      }
      if (truth.has(request.sessionId)) faults.push(`I2: session ${request.sessionId} was started twice`);
      const run = {
        sessionId: request.sessionId,
        instanceId: id,
        ackMs: nowMs(),
        endMs: undefined,
        end: undefined,
        filter: filterOf(request),
        recordsLost: false,
        ignoresStop: random.chance(0.2),
        maxDurationMs: request.maxDurationMs,
      };
      object.run = run;
      truth.set(request.sessionId, run);
      time.at(nowMs() + random.between(500, 60_000), () => object.running && endRun(object, "finished"));
      time.at(run.ackMs + request.maxDurationMs, () => askToEnd(object, "deadline"));
    },
    stop(id, sessionId, epoch) {
      const object = objects.get(id);
      if (!object?.running) throw new InstanceCallError("connection refused", "no");
      if (epoch < object.epoch) throw new InstanceCallError("stale epoch", "refused");
      object.epoch = epoch;
      if (object.run?.sessionId === sessionId) askToEnd(object, "stopped");
    },
    exitRecord(id, sessionId) {
      const object = objects.get(id);
      return object?.hasRecords && object.exit?.sessionId === sessionId ? object.exit : undefined;
    },
    aliveRecord(id) {
      const object = objects.get(id);
      if (!object?.run || !object.hasRecords) return undefined;
      const livedMs = (object.run.endMs ?? nowMs()) - object.run.ackMs;
      const { sessionId, filter } = object.run;
      const elapsedMs = toldMs(sessionId, Math.floor(livedMs / HEARTBEAT_MS) * HEARTBEAT_MS);
      return { sessionId, elapsedMs, atMs: time.nowMs(), filter };
    },
    removeRecords(id) {
      const object = objects.get(id);
      if (object?.running) faults.push(`the records of ${id} were removed while it ran`);
      if (object) object.hasRecords = false;
    },
    strike() {
      const candidates = [...objects.values()].filter(({ running }) => running);
      if (candidates.length === 0) return;
      lose(random.pick(candidates));
    },
    strikeNode(node, nodes) {
      for (const object of objects.values())
        if (object.running && nodeOf(object.id, nodes) === node) lose(object);
    },
    running: () => [...objects.values()].filter(({ running }) => running).map(({ id }) => id),
  };
}

/** By the object's id, so that it draws no random number. */
function nodeOf(id: string, nodes: number): number {
  return Number.parseInt(id.slice(0, 8), 16) % nodes;
}

/** One bot in eight has stopped its clock, another one lets it run fast. By the session's id, as below. */
export function lieOf(sessionId: string): "less" | "more" | undefined {
  if (/^.[01]/.test(sessionId)) return "less";
  return /^.[23]/.test(sessionId) ? "more" : undefined;
}

function toldMs(sessionId: string, trueMs: number): number {
  const lie = lieOf(sessionId);
  return lie === undefined ? trueMs : lie === "less" ? 0 : 10 * trueMs;
}

/** One filter in eight fails. By the session's id, so that it draws no random number. */
function filterOf({ filter, sessionId }: InstanceStart): FilterStatus | null {
  if (filter === null) return null;
  const hasFailed = /^[01]/.test(sessionId);
  return {
    asked: filter,
    state: hasFailed ? "failed" : "ran",
    framesIn: 50,
    framesFiltered: hasFailed ? 0 : 50,
    figures: { ...noFilterFigures, failures: hasFailed ? 50 : 0 },
  };
}
