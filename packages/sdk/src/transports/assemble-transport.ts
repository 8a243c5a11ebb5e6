import type { FilterStage } from "../filters/filter-stage.ts";
import { createRtviSession } from "../rtvi/rtvi-session.ts";
import type { RunnerArguments } from "../runner-arguments.ts";
import { attachLog, type SessionHooks } from "../session-hooks.ts";
import { SDK_VERSION } from "../version.ts";
import { createAudioDrops } from "./audio-drops.ts";
import { createAudioInput, type AudioInputSource } from "./audio-input.ts";
import { createAudioOutput, type AudioOutputSink } from "./audio-output.ts";
import { createBoundedStream } from "./bounded-stream.ts";
import { createListeners } from "../listeners.ts";
import type { RoomHearing, RoomSide, Transport, TransportEvents } from "./transport.ts";

/** A user's options with every default filled in. */
export interface TransportParts {
  hooks: SessionHooks;
  inputHz: number;
  outputHz: number;
  maxQueuedInMs: number;
  maxQueuedOutMs: number;
  filter: FilterStage | undefined;
  /** One more of the same filter, for a stream of its own. */
  openFilter(): Promise<FilterStage | undefined>;
  autoReady: boolean;
  hear: RoomHearing;
  stay: boolean;
  /** Undefined: as long as the session gives everybody. */
  lastWordsMs: number | undefined;
}

/** What a kind of connection must be able to do to become a transport. */
export interface Wire {
  play(samples: Int16Array): void;
  clear(generation: number): void;
  /** Stops playing, after so many samples of this generation were heard, or goes on. `clear` ends a pause too. */
  pause(paused: boolean, heardSamples: number): void;
  send(message: unknown): void;
  close(): void | Promise<void>;
  room?: RoomSide;
}

/** A transport with the side on which its connection puts what happens. */
export interface AssembledTransport extends Transport {
  readonly inner: {
    audioIn: AudioInputSource;
    audioOut: AudioOutputSink;
    receive(message: unknown): void;
    dtmf(key: string): void;
    emit(event: "client-connected" | "client-disconnected"): void;
  };
}

const DTMF_QUEUED_MAX = 64;
const DTMF_KEY = /^[0-9*#]$/;

/** Everything that is the same over every kind of connection. */
export function assembleTransport(
  args: RunnerArguments,
  parts: TransportParts,
  wire: Wire,
): AssembledTransport {
  const listeners = createListeners<TransportEvents>();
  const messageListeners = createListeners<{ message: (message: unknown) => void }>();
  const keys = createBoundedStream<string>({ maxItems: DTMF_QUEUED_MAX, name: "transport.dtmf" });
  const drops = createAudioDrops(parts.hooks.log, (drop) => {
    try {
      listeners.emit("audio-dropped", drop);
    } catch (error) {
      parts.hooks.failed(error);
    }
  });
  const audioIn = createAudioInput({
    sampleRateHz: parts.inputHz,
    maxQueuedMs: parts.maxQueuedInMs,
    filter: parts.filter,
    dropped: (ms) => drops.note("audioIn", ms, "the bot does not read it in time"),
  });
  const audioOut = createAudioOutput({
    sampleRateHz: parts.outputHz,
    maxQueuedMs: parts.maxQueuedOutMs,
    play: (samples) => wire.play(samples),
    clear: (generation) => wire.clear(generation),
    dropped: (ms, why) => drops.note("audioOut", ms, why),
    pause: (paused, heardSamples) => wire.pause(paused, heardSamples),
  });
  const rtvi = createRtviSession({
    autoReady: parts.autoReady,
    about: { library: "vocalhost", library_version: SDK_VERSION },
    send: (message) => wire.send(message),
    audio: (samples, sampleRateHz) => audioIn.push(samples, sampleRateHz),
    disconnect: () => parts.hooks.ended("client-left"),
  });
  audioOut.output.on("started", () => rtvi.session.send("bot-started-speaking", undefined));
  audioOut.output.on("stopped", () => rtvi.session.send("bot-stopped-speaking", undefined));
  rtvi.session.on("dtmf", (pressed) => pressed.forEach((key) => keys.push(key)));

  // A bot adds its listeners once it has the transport; what happens before that waits for them.
  let held: (() => void)[] | undefined = [];
  setImmediate(() => {
    const early = held ?? [];
    held = undefined;
    try {
      for (const tell of early) tell();
    } catch (error) {
      parts.hooks.failed(error);
    }
  });
  function whenListening(tell: () => void): void {
    if (held) held.push(tell);
    else tell();
  }

  function endStreams(): void {
    audioIn.end();
    audioOut.end();
    keys.end();
    drops.end();
  }
  if (args.signal.aborted) endStreams();
  args.signal.addEventListener("abort", endStreams, { once: true });

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    args.signal.removeEventListener("abort", endStreams);
    endStreams();
    try {
      await wire.close();
    } finally {
      await parts.filter?.dispose();
    }
  }

  const transport: AssembledTransport = {
    sessionId: args.sessionId,
    audioIn: audioIn.input,
    audioOut: audioOut.output,
    rtvi: rtvi.session,
    messages: {
      send: (message) => wire.send(message),
      onMessage: (listener) => messageListeners.on("message", listener),
    },
    dtmf: keys,
    room: wire.room,
    signal: args.signal,
    on: listeners.on,
    off: listeners.off,
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => transport.close(),
    inner: {
      audioIn,
      audioOut,
      receive: (message) =>
        whenListening(() => {
          messageListeners.emit("message", message);
          rtvi.receive(message);
        }),
      dtmf: (key) => (DTMF_KEY.test(key) ? keys.push(key) : undefined),
      emit: (event) => whenListening(() => listeners.emit(event)),
    },
  };
  attachLog(transport, parts.hooks.log);
  return transport;
}
