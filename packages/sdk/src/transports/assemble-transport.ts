import { rmsLevel } from "@vocalhost/audio";
import type { BotCapabilities } from "@vocalhost/protocol";
import { tellLevels, type AudioLevels } from "./audio-levels.ts";
import type { FilterStage } from "../filters/filter-stage.ts";
import { createRtviSession, type RtviEndpoint } from "../rtvi/rtvi-session.ts";
import type { RunnerArguments } from "../bot/runner-arguments.ts";
import { attachLog, type SessionHooks } from "./session-hooks.ts";
import { SDK_VERSION } from "../version.ts";
import { createAudioDrops, type AudioDrops } from "./audio-drops.ts";
import { createAudioInput, type AudioInputSource } from "./audio-input.ts";
import { createAudioOutput, type AudioOutputSink } from "./audio-output.ts";
import { createDtmfInput } from "./dtmf-input.ts";
import { createListeners } from "../listeners.ts";
import type { PhoneCall } from "./phone-call.ts";
import type { AudioOutput, RoomHearing, RoomSide, Transport, TransportEvents } from "./transport.ts";

/** A user's options with all defaults filled in. */
export interface TransportParts {
  hooks: SessionHooks;
  inputHz: number;
  outputHz: number;
  maxQueuedInMs: number;
  maxQueuedOutMs: number;
  filter: FilterStage | undefined;
  /** Opens another instance of the same filter, for a stream of its own. */
  openFilter(): Promise<FilterStage | undefined>;
  autoReady: boolean;
  capabilities: BotCapabilities | undefined;
  tellsLevels: boolean;
  hear: RoomHearing;
  stay: boolean;
  departureTimeoutMs: number;
  /** Undefined: the session's default. */
  lastWordsMs: number | undefined;
  hangUpOnReturn: boolean;
}

/** Operations that each kind of connection implements. */
export interface Wire {
  play(samples: Int16Array): void;
  clear(generation: number): void;
  /** Pauses playback after this many heard samples of this generation, or resumes it. `clear` ends a pause too. */
  pause(paused: boolean, heardSamples: number): void;
  send(message: unknown): void;
  close(): void | Promise<void>;
  room?: RoomSide;
  /** Creates the phone call's controls; undefined for other connections. */
  call?(audioOut: AudioOutput): PhoneCall;
}

/** A transport, and the functions through which its connection reports events. */
export interface AssembledTransport extends Transport {
  readonly inner: {
    audioIn: AudioInputSource;
    audioOut: AudioOutputSink;
    receive(message: unknown): void;
    dtmf(key: string): void;
    emit(event: "client-connected" | "client-disconnected" | "client-interrupted"): void;
  };
}

const VOICE_LEVEL = 0.005; // -46 dBFS: quieter sound is an open microphone in a quiet room and does not keep a session alive

/** Builds the parts that every kind of connection shares. */
export function assembleTransport(
  args: RunnerArguments,
  parts: TransportParts,
  wire: Wire,
): AssembledTransport {
  return new ConnectedTransport(args, parts, wire);
}

class ConnectedTransport implements AssembledTransport {
  readonly #args: RunnerArguments;
  readonly #parts: TransportParts;
  readonly #wire: Wire;
  readonly #listeners = createListeners<TransportEvents>();
  readonly #messageListeners = createListeners<{ message: (message: unknown) => void }>();
  readonly #keys = createDtmfInput();
  readonly #drops: AudioDrops;
  readonly #audioIn: AudioInputSource;
  readonly #audioOut: AudioOutputSink;
  readonly #rtvi: RtviEndpoint;
  readonly #levels: AudioLevels | undefined;
  readonly #push: AudioInputSource["push"];
  // Holds early events until the bot had a chance to add its listeners.
  #held: (() => void)[] | undefined = [];
  #closing: Promise<void> | undefined;
  readonly sessionId: string;
  readonly audioIn: Transport["audioIn"];
  readonly audioOut: AudioOutput;
  readonly rtvi: Transport["rtvi"];
  readonly messages: Transport["messages"] = {
    send: (message) => this.#wire.send(message),
    onMessage: (listener) => this.#messageListeners.on("message", listener),
  };
  readonly dtmf: Transport["dtmf"] = this.#keys.input;
  readonly room: RoomSide | undefined;
  readonly call: PhoneCall | undefined;
  readonly signal: AbortSignal;
  readonly on: AssembledTransport["on"] = this.#listeners.on;
  readonly off: AssembledTransport["off"] = this.#listeners.off;
  readonly inner: AssembledTransport["inner"];

  constructor(args: RunnerArguments, parts: TransportParts, wire: Wire) {
    this.#args = args;
    this.#parts = parts;
    this.#wire = wire;
    this.#drops = createAudioDrops(parts.hooks.log, (drop) => {
      try {
        this.#listeners.emit("audio-dropped", drop);
      } catch (error) {
        parts.hooks.failed(error);
      }
    });
    this.#audioIn = createAudioInput({
      sampleRateHz: parts.inputHz,
      maxQueuedMs: parts.maxQueuedInMs,
      filter: parts.filter,
      dropped: (ms) => this.#drops.note("audioIn", ms, "the bot does not read it in time"),
    });
    this.#audioOut = this.#createOutput();
    this.#rtvi = this.#createRtvi();
    this.#levels = parts.tellsLevels
      ? tellLevels(this.#audioOut.output, (type, value) => this.#rtvi.session.send(type, { value }))
      : undefined;
    this.#audioOut.output.on("started", () => this.#rtvi.session.send("bot-started-speaking", undefined));
    this.#audioOut.output.on("stopped", () => this.#rtvi.session.send("bot-stopped-speaking", undefined));
    this.#rtvi.session.on("dtmf", (pressed) => pressed.forEach((key) => this.#keys.push(key)));
    const push = (samples: Int16Array, sampleRateHz: number): void =>
      this.#audioIn.push(samples, sampleRateHz);
    this.#push = this.#levels?.heard(push) ?? push;
    setImmediate(() => this.#tellEarly());
    if (args.signal.aborted) this.#endStreams();
    args.signal.addEventListener("abort", this.#endStreams, { once: true });
    attachLog(this, parts.hooks.log);
    this.sessionId = args.sessionId;
    this.audioIn = this.#audioIn.input;
    this.audioOut = this.#audioOut.output;
    this.rtvi = this.#rtvi.session;
    this.room = wire.room;
    this.call = wire.call?.(this.#audioOut.output);
    this.signal = args.signal;
    this.inner = {
      audioIn: { input: this.#audioIn.input, push: this.#hear, end: () => this.#audioIn.end() },
      audioOut: this.#audioOut,
      receive: (message) =>
        this.#whenListening(() => {
          parts.hooks.active?.();
          this.#messageListeners.emit("message", message);
          this.#rtvi.receive(message);
        }),
      dtmf: (key) => {
        parts.hooks.active?.();
        this.#keys.push(key);
      },
      emit: (event) => this.#whenListening(() => this.#listeners.emit(event)),
    };
  }

  #createOutput(): AudioOutputSink {
    return createAudioOutput({
      sampleRateHz: this.#parts.outputHz,
      maxQueuedMs: this.#parts.maxQueuedOutMs,
      play: (samples) => {
        this.#levels?.bot(samples, this.#parts.outputHz);
        this.#wire.play(samples);
      },
      clear: (generation) => this.#wire.clear(generation),
      dropped: (ms, why) => this.#drops.note("audioOut", ms, why),
      pause: (paused, heardSamples) => this.#wire.pause(paused, heardSamples),
    });
  }

  #createRtvi(): RtviEndpoint {
    return createRtviSession({
      autoReady: this.#parts.autoReady,
      capabilities: this.#parts.capabilities,
      about: { library: "vocalhost", library_version: SDK_VERSION },
      send: (message) => this.#wire.send(message),
      audio: (samples, sampleRateHz) => this.#audioIn.push(samples, sampleRateHz),
      disconnect: () => this.#parts.hooks.ended("client-left"),
    });
  }

  #tellEarly(): void {
    const early = this.#held ?? [];
    this.#held = undefined;
    try {
      for (const tell of early) tell();
    } catch (error) {
      this.#parts.hooks.failed(error);
    }
  }

  readonly close: AssembledTransport["close"] = () => (this.#closing ??= this.#close());

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #hear = (samples: Int16Array, sampleRateHz: number): void => {
    if (rmsLevel(samples) > VOICE_LEVEL) this.#parts.hooks.active?.();
    this.#push(samples, sampleRateHz);
  };

  #whenListening(tell: () => void): void {
    if (this.#held) this.#held.push(tell);
    else tell();
  }

  readonly #endStreams = (): void => {
    this.#audioIn.end();
    this.#audioOut.end();
    this.#keys.end();
    this.#drops.end();
    this.#levels?.end();
  };

  async #close(): Promise<void> {
    this.#args.signal.removeEventListener("abort", this.#endStreams);
    this.#endStreams();
    try {
      await this.#wire.close();
    } finally {
      await this.#parts.filter?.dispose();
    }
  }
}
