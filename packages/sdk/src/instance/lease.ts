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
import { nextLease, type LeaseEffect, type LeaseEvent, type LeaseState } from "./lease-state.ts";
import type { Records } from "./records.ts";

/** The one session an instance runs in its life. */
export interface Lease {
  /** The newest epoch that a controller has named. */
  readonly epoch: number;
  readonly state: LeaseState["phase"];
  /** Returns the session's status; null before there was one. */
  status(): InstanceStatus["session"];
  start(input: InstanceStart): "new" | "known";
  stop(input: InstanceStop): void;
  /** Gives the session to a WebSocket; only to the first one. */
  takeSocket(sessionId: string | undefined): string | undefined;
  /** Ends the session, if there is one. Resolves once its exit record was written, or could not be. */
  end(reason: EndReason): Promise<void>;
  /** Writes the record by which readers of the folder see that the session is running. */
  recordAlive(): Promise<void>;
}

export interface LeaseOptions {
  sessions: SessionTable;
  records: Records;
  isolation: Pick<VoiceIsolation, "begin" | "status">;
  log: Log;
  changed(): void;
  /** Called when the session has ended, and its exit record was written if that was possible. */
  over(session: Session): void;
}

interface Held {
  session: Session;
  acknowledgedMs: number;
  marks: SessionMarks;
  exit: ExitRecord | null;
  onRecord: PromiseWithResolvers<void>;
}

const RECORD_AGAIN_MS = 1_000;
const RECORD_MAX_MS = 30_000;
const TIMER_MAX_MS = 2 ** 31 - 1; // a longer timeout fires at once

export function createLease(options: LeaseOptions): Lease {
  return new OneSessionLease(options);
}

class OneSessionLease implements Lease {
  readonly #options: LeaseOptions;
  #state: LeaseState = { epoch: 0, phase: "free" };
  #held: Held | undefined;
  #isRecording = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  get epoch(): number {
    return this.#state.epoch;
  }

  get state(): LeaseState["phase"] {
    return this.#state.phase;
  }

  status(): InstanceStatus["session"] {
    if (!this.#held) return null;
    const { session, acknowledgedMs, marks, exit } = this.#held;
    return {
      sessionId: session.id,
      // Ended means on record: before that the controller must not believe it.
      state: exit ? "ended" : session.state === "waiting" ? "waiting" : "running",
      elapsedMs: exit?.elapsedMs ?? performance.now() - acknowledgedMs,
      marks,
      exit,
    };
  }

  start(input: InstanceStart): "new" | "known" {
    const { epoch, sessionId } = input;
    const [next, effects] = nextLease(this.#state, { type: "start", epoch, sessionId });
    if (!effects.some(({ type }) => type === "open-session")) {
      this.#apply(next, effects);
      return "known";
    }
    // The lease stays free if the session cannot be opened.
    this.#state = { ...this.#state, epoch };
    this.#options.isolation.begin(input.filter);
    this.#held = this.#open(input);
    this.#state = next;
    this.#options.changed();
    return "new";
  }

  stop({ epoch, sessionId, reason }: InstanceStop): void {
    const elapsedMs = this.#held ? performance.now() - this.#held.acknowledgedMs : 0;
    this.#dispatch({ type: "stop", epoch, sessionId, reason, elapsedMs });
  }

  takeSocket(sessionId: string | undefined): string | undefined {
    const isWaiting = this.#held?.session.state === "waiting";
    const effects = this.#dispatch({ type: "socket", sessionId, isWaiting });
    return effects.some(({ type }) => type === "admit-socket") ? sessionId : undefined;
  }

  async end(reason: EndReason): Promise<void> {
    if (!this.#held) return;
    await this.#held.session.end(reason);
    await this.#held.onRecord.promise;
  }

  async recordAlive(): Promise<void> {
    if (!this.#held || this.#state.phase !== "open" || this.#isRecording) return;
    this.#isRecording = true;
    const { records, isolation, log } = this.#options;
    const { session, acknowledgedMs } = this.#held;
    const elapsedMs = performance.now() - acknowledgedMs;
    await records
      .alive({ sessionId: session.id, elapsedMs, atMs: Date.now(), filter: isolation.status() })
      .catch((error: unknown) => log.warn({ err: error }, "alive record not written"));
    this.#isRecording = false;
  }

  #dispatch(event: LeaseEvent): LeaseEffect[] {
    const [next, effects] = nextLease(this.#state, event);
    this.#apply(next, effects);
    return effects;
  }

  #apply(next: LeaseState, effects: readonly LeaseEffect[]): void {
    this.#state = next;
    for (const effect of effects) {
      if (effect.type === "refuse") throw new AppError(effect.code);
      if (effect.type === "end-session") void this.#held?.session.end(effect.reason);
    }
  }

  #open(input: InstanceStart): Held {
    const acknowledgedMs = performance.now();
    const elapsedMs = (): number => performance.now() - acknowledgedMs;
    const marks: SessionMarks = {};
    const session = this.#options.sessions.create({
      id: input.sessionId,
      transport: input.transport,
      body: input.body,
      connectDeadlineMs: Math.min(input.connectDeadlineMs, TIMER_MAX_MS),
      marked: (mark) => {
        marks[mark] = elapsedMs();
        this.#options.changed();
      },
      ended: (reason) => {
        clearTimeout(deadline);
        void this.#close(held, { sessionId: session.id, reason, elapsedMs: elapsedMs(), marks });
      },
    });
    const deadline = setTimeout(
      () => void session.end("deadline"),
      Math.min(input.maxDurationMs, TIMER_MAX_MS),
    );
    const held: Held = { session, acknowledgedMs, marks, exit: null, onRecord: Promise.withResolvers() };
    return held;
  }

  async #close(held: Held, facts: Omit<ExitRecord, "endedAtMs" | "filter">): Promise<void> {
    const { isolation, changed, over } = this.#options;
    const stopAskedMs = this.#state.phase === "open" ? this.#state.stopAskedMs : undefined;
    const exit = {
      ...facts,
      endedAtMs: Date.now(),
      ...(stopAskedMs === undefined ? {} : { stopAskedMs }),
      filter: isolation.status(),
    };
    // Without a record the controller learns of the end by the event, or counts a loss; it never bills a running session.
    const isWritten = await this.#write(exit);
    held.exit = exit;
    this.#dispatch({ type: "recorded" });
    held.onRecord.resolve();
    changed();
    if (!isWritten) await this.#writeLater(exit);
    over(held.session);
  }

  async #write(exit: ExitRecord): Promise<boolean> {
    try {
      await this.#options.records.exit(exit);
      return true;
    } catch (error) {
      this.#options.log.error({ err: error }, "exit record not written");
      return false;
    }
  }

  /** Retries, since a full disk may have space again soon. Until this process exits, the controller can still ask it. */
  async #writeLater(exit: ExitRecord): Promise<void> {
    for (let triedMs = 0; triedMs < RECORD_MAX_MS; triedMs += RECORD_AGAIN_MS) {
      await pause(RECORD_AGAIN_MS);
      if (await this.#write(exit)) return;
    }
  }
}
