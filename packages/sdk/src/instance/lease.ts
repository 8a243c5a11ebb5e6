import {
  AppError,
  type ExitRecord,
  type InstanceStart,
  type InstanceStatus,
  type InstanceStop,
  type SessionMarks,
} from "@vocalhost/protocol";
import { setTimeout as pause } from "node:timers/promises";
import type { VoiceIsolation } from "../filters/voice-isolation.ts";
import type { Log } from "../log.ts";
import type { SessionTable } from "../server/session-table.ts";
import type { Session } from "../server/session.ts";
import type { EndReason } from "../transports/session-hooks.ts";
import type { Records } from "./records.ts";

/** The one session an instance runs in its life. */
export interface Lease {
  /** The newest a controller has named. */
  readonly epoch: number;
  readonly state: "free" | "open" | "over";
  /** The session's status; null before there was one. */
  status(): InstanceStatus["session"];
  start(input: InstanceStart): "new" | "known";
  stop(input: InstanceStop): void;
  /** Lets a WebSocket have the session; the first one only. */
  takeSocket(sessionId: string | undefined): string | undefined;
  /** Resolves when the session, if there is one, has ended and that is on record. */
  end(reason: EndReason): Promise<void>;
  /** Shows those who read the folder that the session goes on. */
  recordAlive(): Promise<void>;
}

export interface LeaseOptions {
  sessions: SessionTable;
  records: Records;
  isolation: Pick<VoiceIsolation, "begin" | "status">;
  log: Log;
  changed(): void;
  /** The session has ended, and its exit record is written if that was possible. */
  over(session: Session): void;
}

interface Held {
  session: Session;
  acknowledgedMs: number;
  marks: SessionMarks;
  exit: ExitRecord | null;
  stopAskedMs: number | undefined;
  socketTaken: boolean;
  onRecord: PromiseWithResolvers<void>;
}

const RECORD_AGAIN_MS = 1_000;
const RECORD_MAX_MS = 30_000;
const TIMER_MAX_MS = 2 ** 31 - 1; // a longer one would fire at once

export function createLease({ sessions, records, isolation, log, changed, over }: LeaseOptions): Lease {
  let epoch = 0;
  let held: Held | undefined;
  let recording = false;

  function hear(newer: number): void {
    if (newer < epoch) throw new AppError("EPOCH_STALE");
    epoch = newer;
  }

  function open(input: InstanceStart): Held {
    const acknowledgedMs = performance.now();
    const elapsedMs = (): number => performance.now() - acknowledgedMs;
    const marks: SessionMarks = {};
    const session = sessions.create({
      id: input.sessionId,
      transport: input.transport,
      body: input.body,
      connectDeadlineMs: Math.min(input.connectDeadlineMs, TIMER_MAX_MS),
      marked(mark) {
        marks[mark] = elapsedMs();
        changed();
      },
      ended(reason) {
        clearTimeout(deadline);
        void close(created, { sessionId: session.id, reason, elapsedMs: elapsedMs(), marks });
      },
    });
    const deadline = setTimeout(
      () => void session.end("deadline"),
      Math.min(input.maxDurationMs, TIMER_MAX_MS),
    );
    const created: Held = {
      session,
      acknowledgedMs,
      marks,
      exit: null,
      stopAskedMs: undefined,
      socketTaken: false,
      onRecord: Promise.withResolvers(),
    };
    return created;
  }

  async function close(ended: Held, facts: Omit<ExitRecord, "endedAtMs" | "filter">): Promise<void> {
    const { stopAskedMs } = ended;
    const exit = {
      ...facts,
      endedAtMs: Date.now(),
      ...(stopAskedMs === undefined ? {} : { stopAskedMs }),
      filter: isolation.status(),
    };
    // Without a record the end still gets known by the event, or as a loss: either way not as a session that goes on.
    const isWritten = await write(exit);
    ended.exit = exit;
    ended.onRecord.resolve();
    changed();
    if (!isWritten) await writeLater(exit);
    over(ended.session);
  }

  async function write(exit: ExitRecord): Promise<boolean> {
    try {
      await records.exit(exit);
      return true;
    } catch (error) {
      log.error({ err: error }, "exit record not written");
      return false;
    }
  }

  /** A full disk may have space again soon; until then we can be asked, which we no longer could after our end. */
  async function writeLater(exit: ExitRecord): Promise<void> {
    for (let triedMs = 0; triedMs < RECORD_MAX_MS; triedMs += RECORD_AGAIN_MS) {
      await pause(RECORD_AGAIN_MS);
      if (await write(exit)) return;
    }
  }

  return {
    get epoch() {
      return epoch;
    },
    get state() {
      if (!held) return "free";
      return held.exit ? "over" : "open";
    },
    status() {
      if (!held) return null;
      const { session, acknowledgedMs, marks, exit } = held;
      return {
        sessionId: session.id,
        // Ended means on record: before that the controller must not believe it.
        state: exit ? "ended" : session.state === "waiting" ? "waiting" : "running",
        elapsedMs: exit?.elapsedMs ?? performance.now() - acknowledgedMs,
        marks,
        exit,
      };
    },
    start(input) {
      hear(input.epoch);
      if (held?.session.id === input.sessionId) return "known";
      if (held) throw new AppError("INSTANCE_TAKEN");
      isolation.begin(input.filter);
      held = open(input);
      changed();
      return "new";
    },
    stop(input) {
      hear(input.epoch);
      if (held?.session.id !== input.sessionId) return;
      held.stopAskedMs ??= performance.now() - held.acknowledgedMs;
      void held.session.end(input.reason);
    },
    takeSocket(sessionId) {
      if (!held || held.socketTaken || held.session.id !== sessionId || held.session.state !== "waiting")
        return undefined;
      held.socketTaken = true;
      return sessionId;
    },
    async end(reason) {
      if (!held) return;
      await held.session.end(reason);
      await held.onRecord.promise;
    },
    async recordAlive() {
      if (!held || held.exit || recording) return;
      recording = true;
      const { session, acknowledgedMs } = held;
      const elapsedMs = performance.now() - acknowledgedMs;
      await records
        .alive({ sessionId: session.id, elapsedMs, atMs: Date.now(), filter: isolation.status() })
        .catch((error: unknown) => log.warn({ err: error }, "alive record not written"));
      recording = false;
    },
  };
}
