import type { WebRtcArguments } from "../bot/runner-arguments.ts";
import { assembleTransport, type AssembledTransport, type TransportParts } from "./assemble-transport.ts";
import type { OpenConnection } from "./webrtc-connection.ts";

/** Creates a transport over a browser's peer connection. */
export function createWebRtcTransport(args: WebRtcArguments, parts: TransportParts): AssembledTransport {
  const connection = args.webrtcConnection as OpenConnection;
  const transport = assembleTransport(args, parts, {
    play: (samples) => connection.play(samples),
    clear: (generation) => connection.clear(generation),
    pause: (paused) => connection.pause(paused),
    send: (message) => connection.send(JSON.stringify(message)),
    close: () => connection.close(),
  });
  const { audioIn, audioOut, receive, emit } = transport.inner;
  if (connection.state === "connected") emit("client-connected"); // the client connected before the bot was ready
  connection.on("connected", () => emit("client-connected"));
  connection.on("disconnected", () => emit("client-disconnected"));
  connection.attach(
    { inputHz: parts.inputHz, outputHz: parts.outputHz, maxQueuedMs: parts.maxQueuedOutMs },
    {
      audio: (samples) => audioIn.push(samples, parts.inputHz),
      message: receive,
      played: (generation, samples) => audioOut.played(generation, samples),
      speaking: (speaking) => audioOut.speaking(speaking),
    },
  );
  return transport;
}
