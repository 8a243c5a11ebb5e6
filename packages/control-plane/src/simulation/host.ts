import {
  AppError,
  type AliveRecord,
  type ExitRecord,
  type InstanceStart,
  type InstanceStatus,
} from "@vocalhost/protocol";
import type { SeenInstance } from "../drivers/driver.ts";
import { InstanceCallError } from "../instances/instance-network.ts";
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
  list(): SeenInstance[];
  status(id: string): InstanceStatus | undefined;
  start(id: string, wish: InstanceStart): void;
  stop(id: string, sessionId: string, epoch: number): void;
  exitRecord(id: string, sessionId: string): ExitRecord | undefined;
  aliveRecord(id: string): AliveRecord | undefined;
  /** Something goes wrong with a random object. */
  strike(): void;
  /** Objects that run now. */
  running(): string[];
}

export interface BotRun {
  instanceId: string;
  ackMs: number;
  endMs: number | undefined;
  /** Why it ended, as the host knows it. */
  end: "finished" | "stopped" | "deadline" | "killed" | "lost" | undefined;
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
      elapsedMs: run.endMs - run.ackMs,
      endedAtMs: time.nowMs(),
      marks: {},
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

  return {
    truth,
    faults,
    fence(epoch) {
      fencedEpoch = Math.max(fencedEpoch, epoch);
    },
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
              elapsedMs: (run.endMs ?? nowMs()) - run.ackMs,
              marks: {},
              exit: object.exit ?? null,
            }
          : null,
        cpuMs: 0,
        memoryBytes: 0,
      };
    },
    start(id, wish) {
      const object = objects.get(id);
      if (!object?.running || nowMs() < object.readyAtMs)
        throw new InstanceCallError("connection refused", "no");
      if (wish.epoch < object.epoch) throw new InstanceCallError("stale epoch", "refused");
      object.epoch = wish.epoch;
      if (object.run) {
        if (object.run.sessionId === wish.sessionId) return;
        throw new InstanceCallError("runs another session", "refused");
      }
      if (truth.has(wish.sessionId)) faults.push(`I2: session ${wish.sessionId} was started twice`);
      const run = {
        sessionId: wish.sessionId,
        instanceId: id,
        ackMs: nowMs(),
        endMs: undefined,
        end: undefined,
        recordsLost: false,
        ignoresStop: random.chance(0.2),
        maxDurationMs: wish.maxDurationMs,
      };
      object.run = run;
      truth.set(wish.sessionId, run);
      time.at(nowMs() + random.between(500, 60_000), () => object.running && endRun(object, "finished"));
      time.at(run.ackMs + wish.maxDurationMs, () => askToEnd(object, "deadline"));
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
      const elapsedMs = Math.floor(livedMs / HEARTBEAT_MS) * HEARTBEAT_MS;
      return { sessionId: object.run.sessionId, elapsedMs, atMs: time.nowMs() };
    },
    strike() {
      const candidates = [...objects.values()].filter(({ running }) => running);
      if (candidates.length === 0) return;
      const object = random.pick(candidates);
      if (random.chance(0.3)) {
        object.hasRecords = false;
        if (object.run) object.run.recordsLost = true;
      }
      kill(object, "lost");
    },
    running: () => [...objects.values()].filter(({ running }) => running).map(({ id }) => id),
  };
}
