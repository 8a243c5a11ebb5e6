import type { WebSocketArguments } from "../bot/runner-arguments.ts";
import type { CarrierEvent, CarrierStream } from "@vocalhost/carriers";
import { MESSAGE_MAX_CHARS, parseMessage } from "./detect.ts";
import { hangUp } from "./hang-up.ts";
import { createInOrder } from "./in-order.ts";
import { createMarks } from "./marks.ts";
import { decodeWireAudio } from "../pacing/wire-audio.ts";
import { assembleTransport, type AssembledTransport, type TransportParts } from "./assemble-transport.ts";
import { carrierAccounts } from "./config.ts";
import { callbackUrlOf, closeStream, streamOf } from "./carrier-stream.ts";
import { createPhoneCall } from "./phone-call.ts";
import { textOf } from "./socket-data.ts";
import { openSocketVoice } from "./socket-voice.ts";

const LEAD_MS = 120; // played from the carrier's queue while the network stutters; `clear` empties it
const REWIND_MS = 2_000; // more than a carrier holds, its delay included
const UNREAD_MAX_BYTES = 256 * 1024;
const LOG_EVERY_MS = 60_000; // fifty messages a second may be too large
const PAYLOAD_PLACE = "payload-goes-here"; // no carrier's identifier

/** Hears and speaks through a carrier's media stream: a phone call. */
export function createTelephonyTransport(
  args: WebSocketArguments,
  parts: TransportParts,
): AssembledTransport {
  const socket = args.websocket;
  const stream: CarrierStream = streamOf(socket);
  const { hooks } = parts;
  const inOrder = createInOrder<string>();
  let callIsOver = false;
  let loggedAtMs = -Infinity;
  let leaving: "transferred" | "hung-up" | undefined; // the carrier may act before it answers
  const marks = createMarks({
    acknowledged: stream.acknowledgesMarks,
    send: (name) => sendText(stream.mark(name)),
    played: (generation, samples) => audioOut.played(generation, samples),
  });
  const [before = "", after = ""] = stream.media(PAYLOAD_PLACE).split(PAYLOAD_PLACE);
  const voice = openSocketVoice(
    socket,
    {
      sampleRateHz: parts.outputHz,
      wireHz: stream.sends.sampleRateHz,
      chunkMs: stream.chunkMs,
      leadMs: Math.max(LEAD_MS, stream.chunkMs), // less than a piece would be nothing
      rewindMs: REWIND_MS,
      maxQueuedMs: parts.maxQueuedOutMs,
      unreadMaxBytes: UNREAD_MAX_BYTES,
      format: { kind: "carrier", wire: stream.sends, before, after },
    },
    {
      progress: (playedSamples, isLast) => marks.place(playedSamples, isLast),
      speaking: (speaking) => audioOut.speaking(speaking),
      unread: () => hooks.ended("client-lost"),
      failed: (error) => hooks.failed(error),
    },
  );
  const transport = assembleTransport(args, parts, {
    play: (samples) => voice.play(samples),
    clear(generation) {
      voice.clear();
      marks.clear(generation);
      sendText(stream.clear());
    },
    pause(paused, heardSamples) {
      voice.pause(paused);
      if (!paused || !stream.acknowledgesMarks) return;
      // The carrier holds what the caller has not heard yet: it forgets that, and gets it again.
      voice.rewind(heardSamples);
      marks.rewind(heardSamples);
      sendText(stream.clear());
    },
    send: () => undefined, // telephones do not read messages
    async close() {
      voice.stop();
      marks.stop();
      // Closing first would let the call go on with the carrier's next instruction, which may be what is wanted.
      if (parts.hangUpOnReturn && !callIsOver && !leaving && socket.readyState === socket.OPEN)
        await hangUp(stream, carrierAccounts(), hooks.log);
      closeStream(socket);
    },
    call: (output) =>
      createPhoneCall({
        stream,
        accounts: carrierAccounts,
        callbackUrl: callbackUrlOf(socket),
        audioOut: output,
        log: hooks.log,
        signal: args.signal,
        sendText,
        leaving: (reason) => (leaving = reason),
        over(reason) {
          callIsOver = true;
          hooks.ended(reason);
        },
      }),
  });
  const { audioIn, audioOut, dtmf, emit } = transport.inner;

  function sendText(text: string): void {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > UNREAD_MAX_BYTES) return hooks.ended("client-lost");
    socket.send(text);
  }

  function onEvent(event: CarrierEvent): void {
    switch (event.type) {
      case "media":
        for (const payload of inOrder.push(event.chunk, event.payload))
          audioIn.push(decodeWireAudio(payload, stream.receives), stream.receives.sampleRateHz);
        return undefined;
      case "dtmf":
        return dtmf(event.key);
      case "mark":
        return marks.returned(event.name);
      case "stop":
        callIsOver = true;
        return hooks.ended(leaving ?? "client-left");
      case "problem":
        return hooks.log.warn({ carrier: stream.carrier, problem: event.text }, "carrier reports a problem");
      default:
        return event satisfies never;
    }
  }

  function leaveOut(bytes: number): void {
    if (performance.now() - loggedAtMs < LOG_EVERY_MS) return;
    loggedAtMs = performance.now();
    const { carrier } = stream;
    hooks.log.warn(
      { carrier, bytes, maxBytes: MESSAGE_MAX_CHARS },
      "message of the carrier left out, it is too large",
    );
  }

  function guarded(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      hooks.failed(error);
    }
  }

  socket.on("message", (data, isBinary) => {
    if (isBinary) return;
    guarded(() => {
      const text = textOf(data);
      if (text.length > MESSAGE_MAX_CHARS) return leaveOut(Buffer.byteLength(text));
      const event = stream.read(parseMessage(text));
      if (event) onEvent(event);
    });
  });
  // Before the session's own listener, which knows of no transfer.
  socket.prependOnceListener("close", () => {
    callIsOver = true;
    if (leaving) hooks.ended(leaving);
    guarded(() => emit("client-disconnected"));
  });
  queueMicrotask(() => guarded(() => emit("client-connected")));
  return transport;
}
