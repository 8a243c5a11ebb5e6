import { encodeFrame, parseFrame, type Frame } from "@vocalhost/protocol";
import { WebSocket } from "ws";
import { until, within } from "../../testing/wait.ts";

/** A client of the plain WebSocket transport. */
export interface SocketClient extends Disposable {
  readonly socket: WebSocket;
  /** JSON messages received, oldest first. */
  readonly messages: { type?: string; data?: unknown; id?: string }[];
  /** Milliseconds of audio received. */
  readonly heardMs: number;
  /** Largest sample heard. */
  readonly peak: number;
  /** Root of the mean square of all samples heard. */
  readonly level: number;
  /** Longest time between two audio frames. */
  readonly longestGapMs: number;
  /** Forgets what was heard, so that a stretch can be measured on its own. */
  restart(): void;
  sendAudio(samples: Int16Array, sampleRateHz?: number): void;
  sendMessage(message: unknown): void;
  /** Resolves with the first message of that type. */
  message(type: string, timeoutMs?: number): Promise<SocketClient["messages"][number]>;
  closed(timeoutMs?: number): Promise<{ code: number; reason: string }>;
}

/** The answer to an attempt to open a WebSocket: 101, or the refusal. */
export interface Upgrade {
  status: number;
  body: string;
  headers: Record<string, string | string[] | undefined>;
  client: SocketClient | undefined;
}

const UPGRADE_DEADLINE_MS = 15_000;

export async function openSocket(url: string, headers: Record<string, string> = {}): Promise<SocketClient> {
  const { status, body, client } = await tryUpgrade(url, headers);
  if (!client) throw new Error(`The WebSocket was refused with ${status}: ${body}`);
  return client;
}

export function tryUpgrade(url: string, headers: Record<string, string> = {}): Promise<Upgrade> {
  const { promise, resolve, reject } = Promise.withResolvers<Upgrade>();
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  const client = createClient(socket);
  socket.on("open", () => resolve({ status: 101, body: "", headers: {}, client }));
  socket.on("unexpected-response", (_request, response) => {
    let body = "";
    response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    response.on("close", () =>
      resolve({ status: response.statusCode ?? 0, body, headers: response.headers, client: undefined }),
    );
  });
  socket.on("error", reject);
  return within(promise, UPGRADE_DEADLINE_MS, `answer to the upgrade of ${url}`);
}

function createClient(socket: WebSocket): SocketClient {
  const messages: SocketClient["messages"] = [];
  const over = Promise.withResolvers<{ code: number; reason: string }>();
  let heardMs = 0;
  let peak = 0;
  let energy = 0;
  let samples = 0;
  let lastMs: number | undefined;
  let longestGapMs = 0;

  function onAudio(frame: Extract<Frame, { kind: "audio" }>): void {
    const nowMs = performance.now();
    heardMs += (frame.audio.length / 2 / frame.channels / frame.sampleRateHz) * 1000;
    if (lastMs !== undefined) longestGapMs = Math.max(longestGapMs, nowMs - lastMs);
    lastMs = nowMs;
    const bytes = Buffer.from(frame.audio);
    for (let at = 0; at + 1 < bytes.length; at += 2) {
      const sample = bytes.readInt16LE(at);
      peak = Math.max(peak, Math.abs(sample));
      energy += sample ** 2;
      samples += 1;
    }
  }

  socket.binaryType = "nodebuffer";
  socket.on("message", (data: Buffer) => {
    const frame = parseFrame(data);
    if (frame.kind === "message") messages.push(JSON.parse(frame.data) as SocketClient["messages"][number]);
    if (frame.kind === "audio") onAudio(frame);
  });
  socket.on("close", (code, reason) => over.resolve({ code, reason: reason.toString() }));
  return {
    socket,
    messages,
    get heardMs() {
      return heardMs;
    },
    get peak() {
      return peak;
    },
    get level() {
      return Math.sqrt(energy / Math.max(1, samples));
    },
    get longestGapMs() {
      return longestGapMs;
    },
    restart() {
      heardMs = 0;
      peak = 0;
      energy = 0;
      samples = 0;
      lastMs = undefined;
      longestGapMs = 0;
    },
    sendAudio(samples, sampleRateHz = 16_000) {
      const audio = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
      socket.send(encodeFrame({ kind: "audio", id: 0, name: "audio", audio, sampleRateHz, channels: 1 }));
    },
    sendMessage: (message) => socket.send(encodeFrame({ kind: "message", data: JSON.stringify(message) })),
    message: (type, timeoutMs = 15_000) =>
      until(() => messages.find((message) => message.type === type), timeoutMs, `message ${type}`),
    closed: (timeoutMs = 15_000) => within(over.promise, timeoutMs, "close of the WebSocket"),
    [Symbol.dispose]: () => socket.terminate(),
  };
}
