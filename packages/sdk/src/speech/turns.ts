import type { AudioInput, Transport } from "../transports/transport.ts";
import { createTurnDetector } from "./turn-detector.ts";
import type { TurnDetectorOptions, TurnEvent } from "./turn-detector.ts";

/**
 * Yields the turns in the user's audio. It keeps listening while the caller handles an event, so that the user can
 * interrupt the bot; waiting events are kept up to a limit. Ends with the user's audio.
 */
export async function* detectTurns(
  transport: Transport,
  options: DetectTurnsOptions = {},
): AsyncGenerator<TurnEvent, void, undefined> {
  const voice = options.announceVoice ? createVoiceChanges(transport.rtvi) : undefined;
  const detector = createTurnDetector(
    voice
      ? {
          ...options,
          onWindow(isSpeech, windowMs) {
            voice(isSpeech, windowMs);
            options.onWindow?.(isSpeech, windowMs);
          },
        }
      : options,
  );
  const conversation = joinConversation(transport, options);
  const frames = (options.audioIn ?? transport.audioIn)[Symbol.asyncIterator]();
  const waiting: TurnEvent[] = [];
  let wake = Promise.withResolvers<void>();
  let listening = true;

  async function listen(): Promise<void> {
    for (let next = await frames.next(); listening && !next.done; next = await frames.next()) {
      for (const event of detector.process(next.value)) {
        waiting.push(conversation.announce(event));
      }
      while (waiting.length > MAX_WAITING_EVENTS) waiting.shift();
      if (waiting.length > 0) wake.resolve();
    }
  }

  const ended = listen().finally(() => {
    listening = false;
    wake.resolve();
  });
  ended.catch(() => {}); // rethrown to the caller below, after earlier events
  try {
    while (listening || waiting.length > 0) {
      await wake.promise;
      wake = Promise.withResolvers();
      while (waiting.length > 0) yield waiting.shift()!;
    }
    await ended;
  } finally {
    listening = false;
    conversation.leave();
    detector.free();
    void Promise.resolve(frames.return?.()).catch(() => {});
  }
}

export interface DetectTurnsOptions extends TurnDetectorOptions {
  /**
   * Effect on a speaking bot when the user starts to speak: `true` silences it for good, `"pause"` pauses it until
   * you `clear()` or `resume()` it, `false` leaves it alone.
   * @default true
   */
  interrupt?: boolean | "pause";
  /** Audio to listen to; with a `tee()`, `transport.audioIn` remains yours. @default transport.audioIn */
  audioIn?: AudioInput;
  /**
   * Whether to tell the client when the user starts and stops speaking, and when that silenced the bot.
   * @default true
   */
  announce?: boolean;
  /** Whether to tell the client about detected voice too, whether or not it makes a turn. @default false */
  announceVoice?: boolean;
}

// Beyond this the oldest are dropped: a bot that far behind would answer too late.
const MAX_WAITING_EVENTS = 16;

interface Conversation {
  /** Reacts to an event and returns it with its effect on the bot. */
  announce(event: TurnEvent): TurnEvent;
  leave(): void;
}

function joinConversation({ audioOut, rtvi }: Transport, options: DetectTurnsOptions): Conversation {
  const { interrupt = true, announce = true } = options;
  let botIsHeard = false;
  const onStarted = () => void (botIsHeard = true);
  const onStopped = () => void (botIsHeard = false);
  audioOut.on("started", onStarted);
  audioOut.on("stopped", onStopped);
  return {
    announce(event) {
      if (event.type === "turn-end") {
        if (announce) rtvi.userStoppedSpeaking();
        return event;
      }
      const interrupts = botIsHeard || audioOut.queuedMs > 0;
      if (interrupt === "pause" && interrupts) audioOut.pause();
      const interrupted = interrupt === true ? audioOut.clear() : undefined;
      if (announce) rtvi.userStartedSpeaking();
      if (announce && interrupted && interrupts) rtvi.botInterrupted();
      return interrupted && interrupts ? { ...event, interrupted } : event;
    },
    leave() {
      audioOut.off("started", onStarted);
      audioOut.off("stopped", onStopped);
    },
  };
}

const START_MS = 100; // shorter speech is a click
const STOP_MS = 200; // shorter silence is within a word

/** Reports to clients when voice begins and ends, from the decisions for windows. */
export function createVoiceChanges(
  rtvi: Pick<Transport["rtvi"], "vadUserStartedSpeaking" | "vadUserStoppedSpeaking">,
): (isSpeech: boolean, windowMs: number) => void {
  let speaking = false;
  let otherwiseMs = 0; // how long decisions have differed from the reported state
  return (isSpeech, windowMs) => {
    otherwiseMs = isSpeech === speaking ? 0 : otherwiseMs + windowMs;
    if (otherwiseMs < (speaking ? STOP_MS : START_MS)) return;
    speaking = isSpeech;
    otherwiseMs = 0;
    if (speaking) rtvi.vadUserStartedSpeaking();
    else rtvi.vadUserStoppedSpeaking();
  };
}
