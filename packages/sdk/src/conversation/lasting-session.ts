import { samplesIn, type AudioFrame } from "@vocalhost/audio";
import { ServiceFailure } from "./service-failure.ts";
import type { Message, ToolDeclaration, ToolMessage } from "./services.ts";
import type { SpeechModel, SpeechModelEvents, SpeechModelSession } from "./speech-model.ts";
import type { Unanswered } from "./unanswered.ts";
import { GIVE_UP_AFTER_LIMITS, backOff } from "./retry.ts";

/**
 * A model's session that is reopened when it ends or hangs. The new one gets the history and the unanswered
 * speech.
 */
export interface LastingSession extends Omit<SpeechModelSession, "tell"> {
  /** When the model last sent anything, by `performance.now()`. */
  readonly toldAtMs: number;
  /** Call when a caller has waited for the limit in silence. A session that has sent nothing either is given up. */
  silent(): void;
}

export interface LastingSessionOptions {
  model: SpeechModel;
  instructions: string | undefined;
  tools: readonly ToolDeclaration[];
  limitMs: number;
  signal: AbortSignal;
  unanswered: Unanswered;
  events: Omit<SpeechModelEvents, "ready" | "ended">;
  /** Returns the messages so far, for a session that was just opened. */
  history(): readonly Message[];
  /**
   * Called for every lost session. `isOutage`: a second one failed too, or no other is opened until the user
   * speaks; that is `isLast`.
   */
  failed(failure: ServiceFailure, how: { isOutage: boolean; isLast: boolean }): void;
}

interface Opened {
  session: SpeechModelSession | undefined;
  openedAtMs: number;
  isReady: boolean;
  /** The model has sent part of an answer. */
  hasAnswered: boolean;
  /** The model has reported that the user is speaking. */
  isHearing: boolean;
  /** Speech from before the session was opened was replayed to it. */
  wasToldSound: boolean;
  wasWaitedFor: boolean;
  readonly calls: Set<string>;
  readonly over: PromiseWithResolvers<unknown>;
}

const PIECE_MS = 100;

export function openLastingSession(options: LastingSessionOptions): LastingSession {
  return new ReopenedSession(options);
}

class ReopenedSession implements LastingSession {
  readonly #options: LastingSessionOptions;
  #opened: Opened | undefined;
  #toldAtMs = performance.now();
  #spokenTo: PromiseWithResolvers<void> | undefined; // set while no session is open

  constructor(options: LastingSessionOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", () => {
      this.#opened?.over.resolve(undefined);
      this.#spokenTo?.resolve();
    });
    this.#keep().catch(() => undefined);
  }

  get toldAtMs(): number {
    return this.#toldAtMs;
  }

  write(frame: AudioFrame): void {
    this.#opened?.session?.write(frame);
    this.#wanted();
  }

  interrupted(playedMs: number): void {
    this.#opened?.session?.interrupted(playedMs);
  }

  toolResults(results: readonly ToolMessage[], { answer }: { answer: boolean }): void {
    const { session, calls } = this.#opened ?? {};
    const own = results.filter(({ callId }) => calls?.has(callId));
    const others = results.filter((result) => !own.includes(result)); // results of calls made by a lost session
    if (others.length > 0) session?.tell(others);
    if (own.length > 0) session?.toolResults(own, { answer });
    else if (answer) session?.userText("");
    if (!answer) return;
    this.#options.unanswered.ask();
    this.#wanted();
  }

  userText(text: string): void {
    this.#options.unanswered.ask();
    this.#opened?.session?.userText(text);
    this.#wanted();
  }

  say(text: string): void {
    this.#options.unanswered.ask(text);
    this.#opened?.session?.say(text);
    this.#wanted();
  }

  close(): void {
    this.#opened?.session?.close();
  }

  silent(): void {
    if (!this.#opened || performance.now() - this.#toldAtMs < this.#options.limitMs) return;
    // The model hears a user who may only have paused, so it gets twice the time.
    if (this.#opened.isHearing && !this.#opened.wasWaitedFor) return void (this.#opened.wasWaitedFor = true);
    // Two sessions were given sound that only our detector took for speech, and neither answered it.
    if (this.#opened.isReady && this.#opened.wasToldSound && this.#options.unanswered.isDoubtful)
      return this.#options.unanswered.clear();
    this.#opened.over.resolve(
      new DOMException(`sent nothing for ${this.#options.limitMs} ms`, "TimeoutError"),
    );
  }

  #open(): Opened {
    const fresh: Opened = {
      session: undefined,
      openedAtMs: performance.now(),
      isReady: false,
      hasAnswered: false,
      isHearing: false,
      wasToldSound: false,
      wasWaitedFor: false,
      calls: new Set(),
      over: Promise.withResolvers(),
    };
    this.#opened = fresh;
    this.#toldAtMs = fresh.openedAtMs;
    try {
      const { instructions, tools } = this.#options;
      fresh.session = this.#options.model.open({
        instructions,
        tools,
        signal: this.#options.signal,
        events: this.#eventsOf(fresh),
      });
      this.#catchUp(fresh, fresh.session);
    } catch (error) {
      fresh.over.resolve(error);
    }
    return fresh;
  }

  #catchUp(fresh: Opened, session: SpeechModelSession): void {
    const history = this.#options.history();
    if (history.length > 0) session.tell(history);
    const { sound, asked } = this.#options.unanswered;
    if (sound) {
      fresh.wasToldSound = true;
      const perPiece = samplesIn(PIECE_MS, this.#options.model.inputRateHz);
      for (let at = 0; at < sound.length; at += perPiece)
        session.write({
          samples: sound.subarray(at, at + perPiece),
          sampleRateHz: this.#options.model.inputRateHz,
        });
    } else if (asked?.say !== undefined) session.say(asked.say);
    else if (asked) session.userText("");
  }

  /** Passes on a session's events while it is the current one. */
  #eventsOf(fresh: Opened): SpeechModelEvents {
    const passOn =
      <A extends unknown[]>(note: () => void, tell: (...args: A) => void) =>
      (...args: A): void => {
        if (this.#opened !== fresh) return;
        this.#toldAtMs = performance.now();
        fresh.isReady = true;
        note();
        tell(...args);
      };
    const { events } = this.#options;
    const nothing = (): void => undefined;
    return {
      ready: passOn(nothing, nothing),
      userStarted: passOn(() => {
        fresh.isHearing = true;
        this.#options.unanswered.heardByModel();
      }, events.userStarted),
      userStopped: passOn(() => (fresh.isHearing = false), events.userStopped),
      userText: passOn(() => this.#options.unanswered.understood(), events.userText),
      audio: passOn(() => (fresh.hasAnswered = true), events.audio),
      text: passOn(nothing, events.text),
      toolCalls: (calls) =>
        passOn(() => {
          fresh.hasAnswered = true;
          for (const { id } of calls) fresh.calls.add(id);
        }, events.toolCalls)(calls),
      answered: passOn(() => (fresh.hasAnswered = true), events.answered),
      usage: passOn(nothing, events.usage),
      failed: passOn(nothing, events.failed),
      ended: (error) => fresh.over.resolve(error),
    };
  }

  async #keep(): Promise<void> {
    let failures = 0;
    let giveUpAtMs = 0;
    while (!this.#options.signal.aborted) {
      const current = this.#open();
      const cause = await current.over.promise;
      if (this.#options.signal.aborted) return;
      this.#opened = undefined;
      current.session?.close();
      const nowMs = performance.now();
      const worked =
        current.hasAnswered || (current.isReady && nowMs - current.openedAtMs > this.#options.limitMs);
      if (worked) failures = 0;
      if (failures === 0) giveUpAtMs = nowMs + GIVE_UP_AFTER_LIMITS * this.#options.limitMs;
      failures += 1;
      const failure = new ServiceFailure("llm", this.#options.model, cause);
      const isLast = failure.isForGood || nowMs > giveUpAtMs;
      this.#options.failed(failure, { isOutage: isLast || failures > 1, isLast });
      if (isLast) {
        this.#options.unanswered.clear();
        failures = 0;
        this.#spokenTo = Promise.withResolvers<void>();
        await this.#spokenTo.promise;
        this.#spokenTo = undefined;
      } else await backOff(failures, { limitMs: this.#options.limitMs, signal: this.#options.signal });
    }
  }

  #wanted(): void {
    if (this.#options.unanswered.sinceMs !== undefined) this.#spokenTo?.resolve();
  }
}
