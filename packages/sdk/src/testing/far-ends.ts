import { parseFrame } from "@vocalhost/protocol";
import { fork } from "node:child_process";
import { once } from "node:events";
import { within } from "../../../../testing/wait.ts";
import { startMediaHost, type MediaHost } from "../media/media-host.ts";
import {
  createWebRtcArguments,
  createWebSocketArguments,
  type RunnerArguments,
} from "../bot/runner-arguments.ts";
import { attachHooks } from "../transports/session-hooks.ts";
import type { CarrierMessage } from "@vocalhost/carriers";
import { detectCall } from "../transports/detect.ts";
import { decodeWireAudio } from "../pacing/wire-audio.ts";
import { setStreamOf } from "../transports/carrier-stream.ts";
import { createTransport } from "../transports/create-transport.ts";
import { keepEarlyMessages } from "../transports/early-messages.ts";
import type { Transport, TransportOptions } from "../transports/transport.ts";
import { openConnection } from "../transports/webrtc-connection.ts";
import { createCollectedLog, type LogEntry } from "./collected-log.ts";
import type { PeerCommand, PeerNews } from "./peer-process.ts";
import { openSocketPair } from "./socket-pair.ts";
import { messageOf } from "../message-of.ts";

/** A bot's transport and its other end, with the same view of every kind of connection. */
export interface FarEnd extends AsyncDisposable {
  readonly transport: Transport;
  /** The session's own signal. */
  readonly session: AbortController;
  /** Calls of the session's hooks: `ended: client-left` and others. */
  readonly calls: string[];
  readonly logged: LogEntry[];
  /** Returns the bot's audio so far, without the silence of an idle line. */
  heard(): HeardPiece[];
}

export interface HeardPiece {
  atMs: number;
  samples: Int16Array;
  sampleRateHz: number;
}

export interface OpenFarEnd {
  name: string;
  open(options?: TransportOptions): Promise<FarEnd>;
}

/** All kinds of connection between two sides; rooms need a server, see `far-room.ts`. */
export const farEnds: OpenFarEnd[] = [
  { name: "webrtc", open: openPeer },
  { name: "websocket", open: openClientSocket },
  {
    name: "twilio",
    open: carrier({ event: "start", start: { streamSid: "MZ1", callSid: "CA1", accountSid: "AC1" } }),
  },
  {
    name: "telnyx",
    open: carrier({ event: "start", stream_id: "st", start: { call_control_id: "v3:x" } }),
  },
  { name: "plivo", open: carrier({ event: "start", start: { streamId: "st", callId: "ca" } }) },
  {
    name: "exotel",
    open: carrier({ event: "start", start: { stream_sid: "st", call_sid: "ca", account_sid: "ac" } }),
  },
];

interface Told {
  calls: string[];
  session: AbortController;
  logged: LogEntry[];
}

/** Gives the transport a session that records calls of its hooks. */
export async function tellTo(
  args: (signal: AbortSignal) => RunnerArguments,
  options: TransportOptions | undefined,
): Promise<Told & { transport: Transport }> {
  const calls: string[] = [];
  const session = new AbortController();
  const { log, entries } = createCollectedLog();
  const given = args(session.signal);
  attachHooks(given, {
    log,
    transportCreated: () => undefined,
    connected: () => undefined,
    failed: (error) => void calls.push(`failed: ${messageOf(error)}`),
    ended: (reason) => void calls.push(`ended: ${reason}`),
  });
  return { calls, session, logged: entries, transport: await createTransport(given, options) };
}

export const common = { sessionId: "ses", body: {}, cliArgs: undefined } as const;

async function openClientSocket(options?: TransportOptions): Promise<FarEnd> {
  await using stack = new AsyncDisposableStack();
  const pair = stack.use(await openSocketPair());
  const pieces: HeardPiece[] = [];
  pair.client.on("message", (data) => {
    const frame = parseFrame(data as Buffer);
    if (frame.kind !== "audio") return;
    const samples = new Int16Array(Uint8Array.from(frame.audio).buffer);
    pieces.push({ atMs: performance.now(), samples, sampleRateHz: frame.sampleRateHz });
  });
  const told = await tellTo(
    (signal) =>
      createWebSocketArguments({
        ...common,
        callData: null,
        signal,
        websocket: pair.server,
        transportType: "websocket",
      }),
    options,
  );
  stack.defer(() => told.transport.close());
  const owned = stack.move();
  return { ...told, heard: () => pieces, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Plays audio in real time and returns marks, as real carriers do. */
function carrier(start: object): (options?: TransportOptions) => Promise<FarEnd> {
  return async (options) => {
    await using stack = new AsyncDisposableStack();
    const pair = stack.use(await openSocketPair());
    const kept = keepEarlyMessages(pair.server);
    pair.client.send(JSON.stringify(start));
    const stream = await detectCall(kept.peek, new URLSearchParams(), undefined);
    setStreamOf(pair.server, stream);
    const pieces: HeardPiece[] = [];
    const timers = new Set<NodeJS.Timeout>();
    let playsUntilMs = 0;
    pair.client.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as CarrierMessage;
      const media = message["media"] as { payload: string } | undefined;
      const nowMs = performance.now();
      if (media) {
        const samples = decodeWireAudio(media.payload, stream.sends);
        pieces.push({ atMs: nowMs, samples, sampleRateHz: stream.sends.sampleRateHz });
        const lengthMs = (samples.length * 1000) / stream.sends.sampleRateHz;
        playsUntilMs = Math.max(nowMs, playsUntilMs) + lengthMs;
      } else if (message["event"] === "mark" || message["event"] === "checkpoint") {
        const timer = setTimeout(() => answer(message), Math.max(0, playsUntilMs - nowMs));
        timers.add(timer);
      } else {
        playsUntilMs = 0;
        for (const timer of timers) clearTimeout(timer);
      }
    });
    function answer(message: CarrierMessage): void {
      const { name } = (message["mark"] ?? message) as { name: string };
      const event = stream.carrier === "plivo" ? "playedStream" : "mark";
      if (pair.client.readyState === pair.client.OPEN)
        pair.client.send(JSON.stringify({ event, name, mark: { name } }));
    }
    const told = await tellTo(
      (signal) =>
        createWebSocketArguments({
          ...common,
          callData: stream.callData,
          signal,
          websocket: pair.server,
          transportType: stream.carrier,
        }),
      options,
    );
    stack.defer(() => told.transport.close());
    stack.defer(() => timers.forEach((timer) => clearTimeout(timer)));
    const owned = stack.move();
    return { ...told, heard: () => pieces, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  };
}

// Shared by all: the native library can be loaded by one thread in the life of a process.
let media: MediaHost | undefined;

/** Call when the tests are over. */
export async function closeFarEnds(): Promise<void> {
  await media?.[Symbol.asyncDispose]();
}

/** A browser's end, which can also drop what it sends. */
export interface FarPeer extends FarEnd {
  send(packets: number, options: { loseEvery: number }): void;
  /** Loss that the bot's side reported, report by report. */
  readonly reportedLossPercent: readonly number[];
  /** Stops reading from the network. */
  freeze(): void;
  /** The reasons with which the bot's side ended. */
  readonly closed: readonly string[];
}

export async function openPeer(options?: TransportOptions): Promise<FarPeer> {
  await using stack = new AsyncDisposableStack();
  const peer = startPeer();
  stack.defer(() => peer.end());
  media ??= startMediaHost({ log: createCollectedLog().log, iceServers: () => [] });
  const closed: string[] = [];
  const { connection, answer } = await openConnection({
    media,
    sdp: await within(peer.offer, 10_000, "offer of the client"),
    closed: ({ reason, unreadBytes }) =>
      void closed.push(`ended: ${reason}${unreadBytes === undefined ? "" : ", does not read"}`),
    failed: (error) => void closed.push(`failed: ${String(error)}`),
  });
  peer.ask({ type: "accept", answer });
  await within(peer.connected, 10_000, "connection of the client");
  const told = await tellTo(
    (signal) => createWebRtcArguments({ ...common, callData: null, signal, webrtcConnection: connection }),
    options,
  );
  stack.defer(() => told.transport.close());
  const owned = stack.move();
  return {
    ...told,
    heard: () => peer.pieces,
    send: (packets, { loseEvery }) => peer.ask({ type: "send", packets, loseEvery }),
    reportedLossPercent: peer.reports,
    freeze: () => peer.freeze(),
    closed,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function startPeer() {
  const child = fork(new URL("./peer-process.ts", import.meta.url), {
    execArgv: ["--conditions=@vocalhost/source"],
  });
  const pieces: HeardPiece[] = [];
  const reports: number[] = [];
  const offer = Promise.withResolvers<string>();
  const connected = Promise.withResolvers<void>();
  child.on("message", (news: PeerNews) => {
    if (news.type === "offer") offer.resolve(news.sdp);
    else if (news.type === "connected") connected.resolve();
    else if (news.type === "reported") reports.push(news.lostPercent);
    else
      pieces.push({
        atMs: performance.now(),
        samples: Int16Array.from(news.samples),
        sampleRateHz: news.sampleRateHz,
      });
  });
  return {
    pieces,
    offer: offer.promise,
    connected: connected.promise,
    reports,
    ask: (command: PeerCommand) => void child.send(command),
    freeze: () => void child.kill("SIGSTOP"),
    async end() {
      if (child.exitCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGCONT");
      child.disconnect();
      await within(exited, 5_000, "end of the client");
    },
  };
}
