import { pcmSamples } from "@vocalhost/audio";
import { encodeFrame, FrameError, isAudioRate, limits, parseFrame } from "@vocalhost/protocol";
import type { WebSocket } from "ws";
import type { WebSocketArguments } from "../bot/runner-arguments.ts";
import { assembleTransport, type AssembledTransport, type TransportParts } from "./assemble-transport.ts";
import { bytesOf } from "./socket-data.ts";
import { openSocketVoice } from "./socket-voice.ts";

const CLIENT_RATE_HZ = 24_000; // released clients play everything at this rate, whatever the frame says
const LEAD_MS = 80; // their player has no buffer against a stutter; more would outlast an interruption
const CHUNK_MS = 40; // what released clients play smoothly without a buffer of their own
const BROWSER_LIBRARY = "@pipecat-ai/client-js"; // complains in the console about frames it does not know
const UNREAD_MAX_BYTES = 1024 * 1024; // a client that stops reading must not fill our memory

/** Hears and speaks through protobuf frames on a plain WebSocket. */
export function createWebSocketTransport(
  args: WebSocketArguments,
  parts: TransportParts,
): AssembledTransport {
  const socket = args.websocket;
  let generation = 0;
  let isHeard = false;
  let isQueued = false;
  let knowsInterruption = true;
  const voice = openSocketVoice(
    socket,
    {
      sampleRateHz: parts.outputHz,
      wireHz: CLIENT_RATE_HZ,
      chunkMs: CHUNK_MS,
      leadMs: LEAD_MS,
      rewindMs: 0,
      maxQueuedMs: parts.maxQueuedOutMs,
      unreadMaxBytes: UNREAD_MAX_BYTES,
      format: { kind: "frames" },
    },
    {
      progress(playedSamples, isLast) {
        if (isLast) isQueued = false;
        audioOut.played(generation, playedSamples);
      },
      speaking(speaking) {
        isHeard = speaking;
        audioOut.speaking(speaking);
      },
      unread,
      failed: (error) => parts.hooks.failed(error),
    },
  );
  const transport = assembleTransport(args, parts, {
    play(samples) {
      isQueued = true;
      voice.play(samples);
    },
    clear(next) {
      generation = next;
      voice.clear();
      // Clients that know the frame forget what they have not played yet.
      if (knowsInterruption && (isQueued || isHeard))
        sendBytes(encodeFrame({ kind: "interruption", id: 0, name: "interruption" }));
      isQueued = false;
    },
    pause: (paused) => voice.pause(paused),
    send: (message) => sendBytes(encodeFrame({ kind: "message", data: JSON.stringify(message) })),
    close() {
      voice.stop();
      socket.close(1000);
    },
  });
  const { audioIn, audioOut, receive, emit } = transport.inner;
  transport.rtvi.on("client-ready", ({ about }) => {
    knowsInterruption = about?.library !== BROWSER_LIBRARY;
  });

  function sendBytes(bytes: Uint8Array): void {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > UNREAD_MAX_BYTES) unread(socket.bufferedAmount);
    else socket.send(bytes);
  }

  function unread(unreadBytes: number): void {
    parts.hooks.log.warn({ unreadBytes }, "client does not read, closing");
    socket.close(1013, "client does not read");
    parts.hooks.ended("client-lost");
  }

  function onBinary(bytes: Uint8Array): void {
    const frame = parseFrame(bytes);
    if (frame.kind === "message") return receive(parseJson(frame.data));
    if (frame.kind === "interruption") return onInterruption();
    if (frame.kind !== "audio") return undefined;
    if (frame.audio.length > limits.audioFrameBytes) throw new FrameError("The audio frame is too large");
    if (!isAudioRate(frame.sampleRateHz)) throw new FrameError("The audio frame has an odd sample rate");
    return audioIn.push(pcmSamples(frame.audio, frame.channels), frame.sampleRateHz);
  }

  function onInterruption(): void {
    if (!transport.audioOut.clear().interrupted) return;
    transport.rtvi.botInterrupted();
    emit("client-interrupted");
  }

  socket.on("message", (data, isBinary) => {
    try {
      if (isBinary) onBinary(bytesOf(data));
    } catch (error) {
      if (error instanceof FrameError) refuse(socket, error);
      else parts.hooks.failed(error);
    }
  });
  socket.once("close", () => {
    try {
      emit("client-disconnected");
    } catch (error) {
      parts.hooks.failed(error);
    }
  });
  emit("client-connected");
  return transport;
}

// A client's mistake, unlike the same error thrown by the bot that gets the message.
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
