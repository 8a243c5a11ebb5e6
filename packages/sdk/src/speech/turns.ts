import type { AudioInput, Transport } from "../transports/transport.ts";
import { createTurnDetector } from "./turn-detector.ts";
import { createVoiceChanges } from "./voice-changes.ts";
import type { TurnDetectorOptions, TurnEvent } from "./turn-detector.ts";

/**
 * Reads everything the user says and gives the turns in it. Listening goes on while the caller is
 * busy with an event, so that the user can interrupt the bot; events that wait are kept, up to a
 * limit. Ends with the user's audio.
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
  ended.catch(() => {}); // thrown to the caller below, after the events before it
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
   * What a bot that speaks does when the user begins to: `true` silences it for good, `"pause"` holds its voice back
   * until you `clear()` or `resume()` it, `false` leaves it alone.
   * @default true
   */
  interrupt?: boolean | "pause";
  /** What to listen to; a `tee()` of it leaves `transport.audioIn` to you. @default transport.audioIn */
  audioIn?: AudioInput;
  /** Tell the client when the user begins and stops to speak, and when that silenced the bot. @default true */
  announce?: boolean;
  /** Tell the client of voice as it is heard too, whether or not it makes a turn. @default false */
  announceVoice?: boolean;
}

// Beyond this the oldest are dropped: a bot so far behind does not answer them any more.
const MAX_WAITING_EVENTS = 16;

interface Conversation {
  /** Does what is to be done about an event and says what it did to the bot. */
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
