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
  /** Every session as its bot really ran. */
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
  /** Takes down one of so many machines, with all that runs there. */
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
  return new SimulatedHost(time, random);
}

class SimulatedHost implements Host {
  readonly truth = new Map<string, BotRun>();
  readonly faults: string[] = [];
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #objects = new Map<string, HostObject>();
  #fencedEpoch = 0;

  constructor(time: VirtualTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  fence(epoch: number): void {
    this.#fencedEpoch = Math.max(this.#fencedEpoch, epoch);
  }

  newestEpoch(): number {
    return this.#fencedEpoch;
  }

  create(id: string, epoch: number): void {
    this.#requireEpoch(epoch);
    if (this.#objects.has(id)) return;
    const crashes = this.#random.chance(0.05);
    const readyAtMs = this.#nowMs + this.#random.between(200, 3_000);
    const object: HostObject = {
      ...{ id, readyAtMs: crashes ? Infinity : readyAtMs, running: true, exitCode: null, epoch },
      ...{ run: undefined, exit: undefined, hasRecords: true },
    };
    this.#objects.set(id, object);
    if (crashes) this.#time.at(readyAtMs, () => exit(object, 1));
  }

  async destroy(id: string, graceMs: number, epoch: number): Promise<void> {
    this.#requireEpoch(epoch);
    const object = this.#objects.get(id);
    if (!object?.running) return;
    if (graceMs > 0 && object.run?.endMs === undefined) {
      this.#askToEnd(object, "stopped");
      await this.#time.sleep(graceMs);
    }
    this.#kill(object, "killed");
  }

  forget(id: string): void {
    this.#objects.delete(id);
  }

  list(): SeenInstance[] {
    return [...this.#objects.values()].map(({ id, running, readyAtMs, exitCode }) => ({
      id,
      state: running ? "running" : "exited",
      address: this.#nowMs >= readyAtMs ? `host:${id}` : undefined,
      exit: running ? undefined : { code: exitCode, signal: null, outOfMemory: false, lastOutput: "" },
    }));
  }

  status(id: string): InstanceStatus | undefined {
    const object = this.#objects.get(id);
    if (!object?.running || this.#nowMs < object.readyAtMs) return undefined;
    const { run, epoch } = object;
    const session: InstanceStatus["session"] = run
      ? {
          sessionId: run.sessionId,
          state: run.endMs === undefined ? "running" : "ended",
          elapsedMs: toldMs(run.sessionId, (run.endMs ?? this.#nowMs) - run.ackMs),
          marks: {},
          exit: object.exit ?? null,
        }
      : null;
    return { instanceId: id, epoch, ready: run === undefined, session, cpuMs: 0, memoryBytes: 0 };
  }

  start(id: string, request: InstanceStart): void {
    const object = this.#objects.get(id);
    if (!object?.running || this.#nowMs < object.readyAtMs)
      throw new InstanceCallError("connection refused", "no");
    if (request.epoch < object.epoch) throw new InstanceCallError("stale epoch", "refused");
    object.epoch = request.epoch;
    const { sessionId, maxDurationMs } = request;
    if (object.run) {
      if (object.run.sessionId === sessionId) return;
      throw new InstanceCallError("runs another session", "refused");
    }
    if (this.truth.has(sessionId)) this.faults.push(`I2: session ${sessionId} was started twice`);
    const run = {
      ...{ sessionId, instanceId: id, ackMs: this.#nowMs, endMs: undefined, end: undefined },
      ...{ filter: filterOf(request), recordsLost: false, maxDurationMs },
      ignoresStop: this.#random.chance(0.2),
    };
    object.run = run;
    this.truth.set(sessionId, run);
    const finishedMs = this.#nowMs + this.#random.between(500, 60_000);
    this.#time.at(finishedMs, () => object.running && this.#endRun(object, "finished"));
    this.#time.at(run.ackMs + maxDurationMs, () => this.#askToEnd(object, "deadline"));
  }

  stop(id: string, sessionId: string, epoch: number): void {
    const object = this.#objects.get(id);
    if (!object?.running) throw new InstanceCallError("connection refused", "no");
    if (epoch < object.epoch) throw new InstanceCallError("stale epoch", "refused");
    object.epoch = epoch;
    if (object.run?.sessionId === sessionId) this.#askToEnd(object, "stopped");
  }

  exitRecord(id: string, sessionId: string): ExitRecord | undefined {
    const object = this.#objects.get(id);
    return object?.hasRecords && object.exit?.sessionId === sessionId ? object.exit : undefined;
  }

  aliveRecord(id: string): AliveRecord | undefined {
    const object = this.#objects.get(id);
    if (!object?.run || !object.hasRecords) return undefined;
    const { sessionId, filter, endMs, ackMs } = object.run;
    const livedMs = (endMs ?? this.#nowMs) - ackMs;
    const elapsedMs = toldMs(sessionId, Math.floor(livedMs / HEARTBEAT_MS) * HEARTBEAT_MS);
    return { sessionId, elapsedMs, atMs: this.#time.nowMs(), filter };
  }

  removeRecords(id: string): void {
    const object = this.#objects.get(id);
    if (object?.running) this.faults.push(`the records of ${id} were removed while it ran`);
    if (object) object.hasRecords = false;
  }

  strike(): void {
    const candidates = [...this.#objects.values()].filter(({ running }) => running);
    if (candidates.length > 0) this.#lose(this.#random.pick(candidates));
  }

  strikeNode(node: number, nodes: number): void {
    for (const object of this.#objects.values())
      if (object.running && nodeOf(object.id, nodes) === node) this.#lose(object);
  }

  running(): string[] {
    return [...this.#objects.values()].filter(({ running }) => running).map(({ id }) => id);
  }

  get #nowMs(): number {
    return this.#time.monotonicMs();
  }

  #requireEpoch(epoch: number): void {
    if (epoch < this.#fencedEpoch) throw new AppError("EPOCH_STALE");
  }

  #endRun(object: HostObject, end: NonNullable<BotRun["end"]>): void {
    const { run } = object;
    if (!run || run.endMs !== undefined) return;
    run.endMs = this.#nowMs;
    run.end = end;
    if (end === "killed" || end === "lost") return;
    const { sessionId, filter } = run;
    const elapsedMs = toldMs(sessionId, run.endMs - run.ackMs);
    object.exit = { sessionId, reason: end, elapsedMs, endedAtMs: this.#time.nowMs(), marks: {}, filter };
    this.#time.at(this.#nowMs + 200, () => exit(object, 0)); // one session per process life
  }

  #kill(object: HostObject, end: "killed" | "lost"): void {
    if (!object.running) return;
    this.#endRun(object, end);
    exit(object, null);
  }

  #askToEnd(object: HostObject, end: "stopped" | "deadline"): void {
    const { run } = object;
    if (!run || run.endMs !== undefined) return;
    const graceMs = run.ignoresStop ? STOP_GRACE_MS : this.#random.between(0, 500);
    this.#time.at(this.#nowMs + graceMs, () => object.running && this.#endRun(object, end));
  }

  #lose(object: HostObject): void {
    if (this.#random.chance(0.3)) {
      object.hasRecords = false;
      if (object.run) object.run.recordsLost = true;
    }
    this.#kill(object, "lost");
  }
}

function exit(object: HostObject, code: number | null): void {
  object.running = false;
  object.exitCode = code;
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
