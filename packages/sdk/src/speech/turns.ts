import type { Transport } from "../transports/transport.ts";
import { createTurnDetector } from "./turn-detector.ts";
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
  const detector = createTurnDetector(options);
  const conversation = (options.interrupt ?? true) ? joinConversation(transport) : undefined;
  const frames = transport.audioIn[Symbol.asyncIterator]();
  const waiting: TurnEvent[] = [];
  let wake = Promise.withResolvers<void>();
  let listening = true;

  async function listen(): Promise<void> {
    for (let next = await frames.next(); listening && !next.done; next = await frames.next()) {
      for (const event of detector.process(next.value)) {
        conversation?.announce(event);
        waiting.push(event);
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
    conversation?.leave();
    detector.free();
    void Promise.resolve(frames.return?.()).catch(() => {});
  }
}

export interface DetectTurnsOptions extends TurnDetectorOptions {
  /** When the user begins to speak, silence the bot, and tell the client about it. @default true */
  interrupt?: boolean;
}

// Beyond this the oldest are dropped: a bot so far behind does not answer them any more.
const MAX_WAITING_EVENTS = 16;

interface Conversation {
  announce(event: TurnEvent): void;
  leave(): void;
}

function joinConversation({ audioOut, rtvi }: Transport): Conversation {
  let botIsHeard = false;
  const onStarted = () => void (botIsHeard = true);
  const onStopped = () => void (botIsHeard = false);
  audioOut.on("started", onStarted);
  audioOut.on("stopped", onStopped);
  return {
    announce(event) {
      if (event.type === "turn-end") return rtvi.userStoppedSpeaking();
      const interrupts = botIsHeard || audioOut.queuedMs > 0;
      audioOut.clear();
      rtvi.userStartedSpeaking();
      if (interrupts) rtvi.botInterrupted();
    },
    leave() {
      audioOut.off("started", onStarted);
      audioOut.off("stopped", onStopped);
    },
  };
}
