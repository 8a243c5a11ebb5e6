import type { WebSocket } from "ws";
import type { WebSocketArguments } from "../bot/runner-arguments.ts";
import type { CarrierEvent, CarrierStream } from "@vocalhost/carriers";
import { MESSAGE_MAX_CHARS, parseMessage } from "./detect.ts";
import { hangUp } from "./hang-up.ts";
import { createInOrder } from "./in-order.ts";
import { createMarks, type Marks } from "./marks.ts";
import { decodeWireAudio } from "../pacing/wire-audio.ts";
import {
  assembleTransport,
  type AssembledTransport,
  type TransportParts,
  type Wire,
} from "./assemble-transport.ts";
import { carrierAccounts } from "./config.ts";
import { callbackUrlOf, closeStream, streamOf } from "./carrier-stream.ts";
import { createPhoneCall, type PhoneCall } from "./phone-call.ts";
import type { AudioOutput } from "./transport.ts";
import { textOf } from "./socket-data.ts";
import { openSocketVoice, type SocketVoice } from "./socket-voice.ts";

const LEAD_MS = 120; // buffered at the carrier against network jitter; `clear` empties it
const REWIND_MS = 2_000; // more than a carrier buffers, including its delay
const UNREAD_MAX_BYTES = 256 * 1024;
const LOG_EVERY_MS = 60_000; // up to fifty messages a second may be too large
const PAYLOAD_PLACE = "payload-goes-here"; // does not occur in any carrier's identifiers

/** Creates a transport over a carrier's media stream, for a phone call. */
export function createTelephonyTransport(
  args: WebSocketArguments,
  parts: TransportParts,
): AssembledTransport {
  return new CarrierSocket(args, parts).transport;
}

class CarrierSocket {
  readonly #args: WebSocketArguments;
  readonly #parts: TransportParts;
  readonly #socket: WebSocket;
  readonly #stream: CarrierStream;
  readonly #inOrder = createInOrder<string>();
  #callIsOver = false;
  #loggedAtMs = -Infinity;
  #leaving: "transferred" | "hung-up" | undefined; // the carrier may end the stream before it answers the request
  readonly #marks: Marks;
  readonly #voice: SocketVoice;
  readonly transport: AssembledTransport;

  constructor(args: WebSocketArguments, parts: TransportParts) {
    this.#args = args;
    this.#parts = parts;
    this.#socket = args.websocket;
    this.#stream = streamOf(this.#socket);
    this.#marks = createMarks({
      acknowledged: this.#stream.acknowledgesMarks,
      send: (name) => this.#sendText(this.#stream.mark(name)),
      played: (generation, samples) => this.transport.inner.audioOut.played(generation, samples),
    });
    this.#voice = this.#openVoice();
    this.transport = assembleTransport(args, parts, this.#createWire());
    this.#listen();
    queueMicrotask(() => this.#guarded(() => this.transport.inner.emit("client-connected")));
  }

  #openVoice(): SocketVoice {
    const [before = "", after = ""] = this.#stream.media(PAYLOAD_PLACE).split(PAYLOAD_PLACE);
    return openSocketVoice(
      this.#socket,
      {
        sampleRateHz: this.#parts.outputHz,
        wireHz: this.#stream.sends.sampleRateHz,
        chunkMs: this.#stream.chunkMs,
        leadMs: Math.max(LEAD_MS, this.#stream.chunkMs), // a lead below one chunk would have no effect
        rewindMs: REWIND_MS,
        maxQueuedMs: this.#parts.maxQueuedOutMs,
        unreadMaxBytes: UNREAD_MAX_BYTES,
        format: {
          kind: "carrier",
          wire: this.#stream.sends,
          before,
          after,
        },
      },
      {
        progress: (playedSamples, isLast) => this.#marks.place(playedSamples, isLast),
        speaking: (speaking) => this.transport.inner.audioOut.speaking(speaking),
        unread: () => this.#parts.hooks.ended("client-lost"),
        failed: (error) => this.#parts.hooks.failed(error),
      },
    );
  }

  #createWire(): Wire {
    return {
      play: (samples) => this.#voice.play(samples),
      clear: (generation) => {
        this.#voice.clear();
        this.#marks.clear(generation);
        this.#sendText(this.#stream.clear());
      },
      pause: (paused, heardSamples) => {
        this.#voice.pause(paused);
        if (!paused || !this.#stream.acknowledgesMarks) return;
        // The carrier's buffer is cleared, and its unheard audio is sent again later.
        this.#voice.rewind(heardSamples);
        this.#marks.rewind(heardSamples);
        this.#sendText(this.#stream.clear());
      },
      send: () => undefined, // phones have no message channel
      close: () => this.#close(),
      call: (output) => this.#createCall(output),
    };
  }

  async #close(): Promise<void> {
    this.#voice.stop();
    this.#marks.stop();
    // If the socket closed first, the call would continue with the carrier's next instruction.
    if (
      this.#parts.hangUpOnReturn &&
      !this.#callIsOver &&
      !this.#leaving &&
      this.#socket.readyState === this.#socket.OPEN
    )
      await hangUp(this.#stream, carrierAccounts(), this.#parts.hooks.log);
    closeStream(this.#socket);
  }

  #createCall(audioOut: AudioOutput): PhoneCall {
    return createPhoneCall({
      stream: this.#stream,
      accounts: carrierAccounts,
      callbackUrl: callbackUrlOf(this.#socket),
      audioOut,
      log: this.#parts.hooks.log,
      signal: this.#args.signal,
      sendText: this.#sendText,
      leaving: (reason) => (this.#leaving = reason),
      over: (reason) => {
        this.#callIsOver = true;
        this.#parts.hooks.ended(reason);
      },
    });
  }

  #listen(): void {
    this.#socket.on("message", (data, isBinary) => {
      if (isBinary) return;
      this.#guarded(() => {
        const text = textOf(data);
        if (text.length > MESSAGE_MAX_CHARS) return this.#leaveOut(Buffer.byteLength(text));
        const event = this.#stream.read(parseMessage(text));
        if (event) this.#onEvent(event);
      });
    });
    // Runs before the session's own listener, which does not know about transfers.
    this.#socket.prependOnceListener("close", () => {
      this.#callIsOver = true;
      if (this.#leaving) this.#parts.hooks.ended(this.#leaving);
      this.#guarded(() => this.transport.inner.emit("client-disconnected"));
    });
  }

  readonly #sendText = (text: string): void => {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > UNREAD_MAX_BYTES) return this.#parts.hooks.ended("client-lost");
    this.#socket.send(text);
  };

  #onEvent(event: CarrierEvent): void {
    switch (event.type) {
      case "media":
        for (const payload of this.#inOrder.push(event.chunk, event.payload))
          this.transport.inner.audioIn.push(
            decodeWireAudio(payload, this.#stream.receives),
            this.#stream.receives.sampleRateHz,
          );
        return undefined;
      case "dtmf":
        return this.transport.inner.dtmf(event.key);
      case "mark":
        return this.#marks.returned(event.name);
      case "stop":
        this.#callIsOver = true;
        return this.#parts.hooks.ended(this.#leaving ?? "client-left");
      case "problem":
        return this.#parts.hooks.log.warn(
          { carrier: this.#stream.carrier, problem: event.text },
          "carrier reports a problem",
        );
      default:
        return event satisfies never;
    }
  }

  #leaveOut(bytes: number): void {
    if (performance.now() - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#loggedAtMs = performance.now();
    const { carrier } = this.#stream;
    this.#parts.hooks.log.warn(
      { carrier, bytes, maxBytes: MESSAGE_MAX_CHARS },
      "carrier message too large, ignored",
    );
  }

  #guarded(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#parts.hooks.failed(error);
    }
  }
}
