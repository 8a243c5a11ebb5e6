import { pcmSamples } from "@vocalhost/audio";
import { encodeFrame, FrameError, isAudioRate, limits, parseFrame } from "@vocalhost/protocol";
import type { WebSocket } from "ws";
import type { WebSocketArguments } from "../bot/runner-arguments.ts";
import {
  assembleTransport,
  type AssembledTransport,
  type TransportParts,
  type Wire,
} from "./assemble-transport.ts";
import { bytesOf } from "./socket-data.ts";
import { openSocketVoice, type SocketVoice } from "./socket-voice.ts";

const CLIENT_RATE_HZ = 24_000; // released clients play all audio at this rate, whatever the frame says
const LEAD_MS = 80; // released clients cannot buffer against jitter; a larger lead would outlast an interruption
const CHUNK_MS = 40; // released clients play this smoothly without a buffer of their own
const BROWSER_LIBRARY = "@pipecat-ai/client-js"; // logs an error for every frame it does not know
const UNREAD_MAX_BYTES = 1024 * 1024; // bounds memory for a client that stops reading

/** Creates a transport over protobuf frames on a plain WebSocket. */
export function createWebSocketTransport(
  args: WebSocketArguments,
  parts: TransportParts,
): AssembledTransport {
  return new FrameSocket(args, parts).transport;
}

class FrameSocket {
  readonly #parts: TransportParts;
  readonly #socket: WebSocket;
  #generation = 0;
  #isHeard = false;
  #isQueued = false;
  #knowsInterruption = true;
  readonly #voice: SocketVoice;
  readonly transport: AssembledTransport;

  constructor(args: WebSocketArguments, parts: TransportParts) {
    this.#parts = parts;
    this.#socket = args.websocket;
    this.#voice = this.#openVoice();
    this.transport = assembleTransport(args, parts, this.#createWire());
    this.transport.rtvi.on("client-ready", ({ about }) => {
      this.#knowsInterruption = about?.library !== BROWSER_LIBRARY;
    });
    this.#listen();
    this.transport.inner.emit("client-connected");
  }

  #openVoice(): SocketVoice {
    return openSocketVoice(
      this.#socket,
      {
        sampleRateHz: this.#parts.outputHz,
        wireHz: CLIENT_RATE_HZ,
        chunkMs: CHUNK_MS,
        leadMs: LEAD_MS,
        rewindMs: 0,
        maxQueuedMs: this.#parts.maxQueuedOutMs,
        unreadMaxBytes: UNREAD_MAX_BYTES,
        format: { kind: "frames" },
      },
      {
        progress: (playedSamples, isLast) => {
          if (isLast) this.#isQueued = false;
          this.transport.inner.audioOut.played(this.#generation, playedSamples);
        },
        speaking: (speaking) => {
          this.#isHeard = speaking;
          this.transport.inner.audioOut.speaking(speaking);
        },
        unread: this.#unread,
        failed: (error) => this.#parts.hooks.failed(error),
      },
    );
  }

  #createWire(): Wire {
    return {
      play: (samples) => {
        this.#isQueued = true;
        this.#voice.play(samples);
      },
      clear: (next) => {
        this.#generation = next;
        this.#voice.clear();
        // Clients that know this frame drop audio they have not played yet.
        if (this.#knowsInterruption && (this.#isQueued || this.#isHeard))
          this.#sendBytes(encodeFrame({ kind: "interruption", id: 0, name: "interruption" }));
        this.#isQueued = false;
      },
      pause: (paused) => this.#voice.pause(paused),
      send: (message) => this.#sendBytes(encodeFrame({ kind: "message", data: JSON.stringify(message) })),
      close: () => {
        this.#voice.stop();
        this.#socket.close(1000);
      },
    };
  }

  #listen(): void {
    this.#socket.on("message", (data, isBinary) => {
      try {
        if (isBinary) this.#onBinary(bytesOf(data));
      } catch (error) {
        if (error instanceof FrameError) refuse(this.#socket, error);
        else this.#parts.hooks.failed(error);
      }
    });
    this.#socket.once("close", () => {
      try {
        this.transport.inner.emit("client-disconnected");
      } catch (error) {
        this.#parts.hooks.failed(error);
      }
    });
  }

  #sendBytes(bytes: Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > UNREAD_MAX_BYTES) this.#unread(this.#socket.bufferedAmount);
    else this.#socket.send(bytes);
  }

  readonly #unread = (unreadBytes: number): void => {
    this.#parts.hooks.log.warn({ unreadBytes }, "client does not read, closing");
    this.#socket.close(1013, "client does not read");
    this.#parts.hooks.ended("client-lost");
  };

  #onBinary(bytes: Uint8Array): void {
    const frame = parseFrame(bytes);
    if (frame.kind === "message") return this.transport.inner.receive(parseJson(frame.data));
    if (frame.kind === "interruption") return this.#onInterruption();
    if (frame.kind !== "audio") return undefined;
    if (frame.audio.length > limits.audioFrameBytes) throw new FrameError("The audio frame is too large");
    if (!isAudioRate(frame.sampleRateHz))
      throw new FrameError("The audio frame has an unsupported sample rate");
    return this.transport.inner.audioIn.push(pcmSamples(frame.audio, frame.channels), frame.sampleRateHz);
  }

  #onInterruption(): void {
    if (!this.transport.audioOut.clear().interrupted) return;
    this.transport.rtvi.botInterrupted();
    this.transport.inner.emit("client-interrupted");
  }
}

// Marks invalid JSON as the client's mistake, unlike a SyntaxError of the bot that gets the message.
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new FrameError("The message is not valid JSON", { cause });
  }
}

function refuse(socket: WebSocket, error: Error): void {
  const tooLarge = error.message.includes("too large");
  socket.close(tooLarge ? 1009 : 1007, error.message.slice(0, 120));
}
