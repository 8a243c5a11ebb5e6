import { samplesIn } from "@vocalhost/audio";
import { ServiceFailure } from "./service-failure.ts";
import type { Message, ToolDeclaration } from "./services.ts";
import type { SpeechModel, SpeechModelEvents, SpeechModelSession } from "./speech-model.ts";
import type { Unanswered } from "./unanswered.ts";
import { GIVES_UP_AFTER, pauseBefore } from "./until-it-works.ts";

/** A model's session that is opened anew when it ends or says nothing: it is told what was said, and what it owes. */
export interface LastingSession extends Omit<SpeechModelSession, "tell"> {
  /** When the model last told something, by `performance.now()`. */
  readonly toldAtMs: number;
  /** Whether somebody waits for the model and nothing was heard for the limit: a session that told nothing either is given up. */
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
  /** What was said so far, for a session that was not there. */
  history(): readonly Message[];
  /** Told of every session that is lost; `isOutage`: a second one failed too, or there will be none until somebody speaks. */
  failed(failure: ServiceFailure, how: { isOutage: boolean; isLast: boolean }): void;
}

interface Opened {
  session: SpeechModelSession | undefined;
  openedAtMs: number;
  isReady: boolean;
  /** It has said something. */
  hasAnswered: boolean;
  /** It says that the user speaks. */
  isHearing: boolean;
  /** What was said before it was there was said to it again. */
  wasToldSound: boolean;
  wasWaitedFor: boolean;
  readonly calls: Set<string>;
  readonly over: PromiseWithResolvers<unknown>;
}

const PIECE_MS = 100;

export function openLastingSession(options: LastingSessionOptions): LastingSession {
  const { model, limitMs, signal, unanswered } = options;
  let opened: Opened | undefined;
  let toldAtMs = performance.now();
  let spokenTo: PromiseWithResolvers<void> | undefined; // it was given up until somebody wants something

  function open(): Opened {
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
    opened = fresh;
    toldAtMs = fresh.openedAtMs;
    try {
      const { instructions, tools } = options;
      fresh.session = model.open({ instructions, tools, signal, events: eventsOf(fresh) });
      catchUp(fresh, fresh.session);
    } catch (error) {
      fresh.over.resolve(error);
    }
    return fresh;
  }

  function catchUp(fresh: Opened, session: SpeechModelSession): void {
    const history = options.history();
    if (history.length > 0) session.tell(history);
    const { sound, asked } = unanswered;
    if (sound) {
      fresh.wasToldSound = true;
      const perPiece = samplesIn(PIECE_MS, model.inputRateHz);
      for (let at = 0; at < sound.length; at += perPiece)
        session.write({ samples: sound.subarray(at, at + perPiece), sampleRateHz: model.inputRateHz });
    } else if (asked?.say !== undefined) session.say(asked.say);
    else if (asked) session.userText("");
  }

  /** Passes on what it tells while it is the one. */
  function eventsOf(fresh: Opened): SpeechModelEvents {
    const passOn =
      <A extends unknown[]>(note: () => void, tell: (...args: A) => void) =>
      (...args: A): void => {
        if (opened !== fresh) return;
        toldAtMs = performance.now();
        fresh.isReady = true;
        note();
        tell(...args);
      };
    const { events } = options;
    const nothing = (): void => undefined;
    return {
      ready: passOn(nothing, nothing),
      userStarted: passOn(() => {
        fresh.isHearing = true;
        unanswered.heardByModel();
      }, events.userStarted),
      userStopped: passOn(() => (fresh.isHearing = false), events.userStopped),
      userText: passOn(() => unanswered.understood(), events.userText),
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

  async function keep(): Promise<void> {
    let failures = 0;
    let giveUpAtMs = 0;
    while (!signal.aborted) {
      const current = open();
      const cause = await current.over.promise;
      if (signal.aborted) return;
      opened = undefined;
      current.session?.close();
      const nowMs = performance.now();
      const worked = current.hasAnswered || (current.isReady && nowMs - current.openedAtMs > limitMs);
      if (worked) failures = 0;
      if (failures === 0) giveUpAtMs = nowMs + GIVES_UP_AFTER * limitMs;
      failures += 1;
      const failure = new ServiceFailure("llm", model, cause);
      const isLast = failure.isForGood || nowMs > giveUpAtMs;
      options.failed(failure, { isOutage: isLast || failures > 1, isLast });
      if (isLast) {
        unanswered.clear();
        failures = 0;
        spokenTo = Promise.withResolvers<void>();
        await spokenTo.promise;
        spokenTo = undefined;
      } else await pauseBefore(failures, { limitMs, signal });
    }
  }

  function wanted(): void {
    if (unanswered.sinceMs !== undefined) spokenTo?.resolve();
  }

  signal.addEventListener("abort", () => {
    opened?.over.resolve(undefined);
    spokenTo?.resolve();
  });
  keep().catch(() => undefined); // rejects when the conversation is over in a pause
  return {
    get toldAtMs() {
      return toldAtMs;
    },
    write(frame) {
      opened?.session?.write(frame);
      wanted();
    },
    interrupted: (playedMs) => opened?.session?.interrupted(playedMs),
    toolResults(results, { answer }) {
      const { session, calls } = opened ?? {};
      const own = results.filter(({ callId }) => calls?.has(callId));
      const others = results.filter((result) => !own.includes(result)); // of calls of a session that is gone
      if (others.length > 0) session?.tell(others);
      if (own.length > 0) session?.toolResults(own, { answer });
      else if (answer) session?.userText("");
      if (!answer) return;
      unanswered.ask();
      wanted();
    },
    userText(text) {
      unanswered.ask();
      opened?.session?.userText(text);
      wanted();
    },
    say(text) {
      unanswered.ask(text);
      opened?.session?.say(text);
      wanted();
    },
    close: () => opened?.session?.close(),
    silent() {
      if (!opened || performance.now() - toldAtMs < limitMs) return;
      // It hears somebody who seems to have paused: it may be right, and is waited for twice as long.
      if (opened.isHearing && !opened.wasWaitedFor) return void (opened.wasWaitedFor = true);
      // Two sessions were given what only we took for speech, and neither wanted to answer it.
      if (opened.isReady && opened.wasToldSound && unanswered.isDoubtful) return unanswered.clear();
      opened.over.resolve(new DOMException(`sent nothing for ${limitMs} ms`, "TimeoutError"));
    },
  };
}
