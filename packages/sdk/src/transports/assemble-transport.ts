import { rmsLevel } from "@vocalhost/audio";
import type { BotCapabilities } from "@vocalhost/protocol";
import { tellLevels } from "./audio-levels.ts";
import type { FilterStage } from "../filters/filter-stage.ts";
import { createRtviSession } from "../rtvi/rtvi-session.ts";
import type { RunnerArguments } from "../bot/runner-arguments.ts";
import { attachLog, type SessionHooks } from "./session-hooks.ts";
import { SDK_VERSION } from "../version.ts";
import { createAudioDrops } from "./audio-drops.ts";
import { createAudioInput, type AudioInputSource } from "./audio-input.ts";
import { createAudioOutput, type AudioOutputSink } from "./audio-output.ts";
import { createDtmfInput } from "./dtmf-input.ts";
import { createListeners } from "../listeners.ts";
import type { PhoneCall } from "./phone-call.ts";
import type { AudioOutput, RoomHearing, RoomSide, Transport, TransportEvents } from "./transport.ts";

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
  capabilities: BotCapabilities | undefined;
  tellsLevels: boolean;
  hear: RoomHearing;
  stay: boolean;
  departureTimeoutMs: number;
  /** Undefined: as long as the session gives everybody. */
  lastWordsMs: number | undefined;
  hangUpOnReturn: boolean;
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
  /** Makes the phone call it is, if it is one. */
  call?(audioOut: AudioOutput): PhoneCall;
}

/** A transport with the side on which its connection puts what happens. */
export interface AssembledTransport extends Transport {
  readonly inner: {
    audioIn: AudioInputSource;
    audioOut: AudioOutputSink;
    receive(message: unknown): void;
    dtmf(key: string): void;
    emit(event: "client-connected" | "client-disconnected" | "client-interrupted"): void;
  };
}

const VOICE_LEVEL = 0.005; // -46 dBFS: below it is an open microphone in a quiet room, and no session worth keeping

/** Everything that is the same over every kind of connection. */
export function assembleTransport(
  args: RunnerArguments,
  parts: TransportParts,
  wire: Wire,
): AssembledTransport {
  const listeners = createListeners<TransportEvents>();
  const messageListeners = createListeners<{ message: (message: unknown) => void }>();
  const keys = createDtmfInput();
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
    play(samples) {
      levels?.bot(samples, parts.outputHz);
      wire.play(samples);
    },
    clear: (generation) => wire.clear(generation),
    dropped: (ms, why) => drops.note("audioOut", ms, why),
    pause: (paused, heardSamples) => wire.pause(paused, heardSamples),
  });
  const rtvi = createRtviSession({
    autoReady: parts.autoReady,
    capabilities: parts.capabilities,
    about: { library: "vocalhost", library_version: SDK_VERSION },
    send: (message) => wire.send(message),
    audio: (samples, sampleRateHz) => audioIn.push(samples, sampleRateHz),
    disconnect: () => parts.hooks.ended("client-left"),
  });
  const levels = parts.tellsLevels
    ? tellLevels(audioOut.output, (type, value) => rtvi.session.send(type, { value }))
    : undefined;
  audioOut.output.on("started", () => rtvi.session.send("bot-started-speaking", undefined));
  audioOut.output.on("stopped", () => rtvi.session.send("bot-stopped-speaking", undefined));
  rtvi.session.on("dtmf", (pressed) => pressed.forEach((key) => keys.push(key)));

  const push = levels?.heard(audioIn.push) ?? audioIn.push;
  function hear(samples: Int16Array, sampleRateHz: number): void {
    if (rmsLevel(samples) > VOICE_LEVEL) parts.hooks.active?.();
    push(samples, sampleRateHz);
  }

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
    levels?.end();
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
    dtmf: keys.input,
    room: wire.room,
    call: wire.call?.(audioOut.output),
    signal: args.signal,
    on: listeners.on,
    off: listeners.off,
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => transport.close(),
    inner: {
      audioIn: { ...audioIn, push: hear },
      audioOut,
      receive: (message) =>
        whenListening(() => {
          parts.hooks.active?.();
          messageListeners.emit("message", message);
          rtvi.receive(message);
        }),
      dtmf(key) {
        parts.hooks.active?.();
        keys.push(key);
      },
      emit: (event) => whenListening(() => listeners.emit(event)),
    },
  };
  attachLog(transport, parts.hooks.log);
  return transport;
}
