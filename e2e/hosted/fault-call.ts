import { once } from "node:events";
import { WebSocket } from "ws";
import type { ServiceProcess } from "../harness/service-process.ts";
import { until, within } from "../../testing/wait.ts";

/** A WebSocket call that counts: every number it sends must come back, in order. */
export interface Call extends Disposable {
  readonly sessionId: string;
  /** Version of the bot's code. */
  readonly version: string;
  /** Process id of its instance. */
  readonly pid: number;
  /** Numbers sent and heard again. */
  readonly sent: number;
  readonly echoed: number;
  /** Unexpected answers, in words. */
  readonly faults: readonly string[];
  readonly isOpen: boolean;
  say(text: "hang up" | "freeze"): void;
  /** No further numbers. */
  fallSilent(): void;
  /** Resolves with the close code. */
  closed(timeoutMs?: number): Promise<number>;
  /** Hangs up by closing the socket. */
  leave(): Promise<number>;
}

export interface CallOptions {
  agent: string;
  body?: object;
  /** Where to connect instead of the gateway's own port. */
  port?: number;
  /** And instead of its own name. */
  host?: string;
}

interface Greeting {
  sessionId: string;
  version: string;
  pid: number;
}

const FRAME_MS = 20;
const FRAME_PADDING = ".".repeat(640); // as much as 20 ms of sound

export async function openCall(
  service: Pick<ServiceProcess, "publicApi">,
  options: CallOptions,
): Promise<Call> {
  const { agent, body, port, host } = options;
  const prepared = await service.publicApi.sessions.start(agent, { transport: "websocket", body });
  if (!("wsUrl" in prepared)) throw new Error("The start gave no address");
  const url = new URL(prepared.wsUrl);
  if (port !== undefined) url.port = String(port);
  if (host !== undefined) url.hostname = host;
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${prepared.token}` },
    perMessageDeflate: false,
  });
  const faults: string[] = [];
  const closing = Promise.withResolvers<number>();
  let greeting: Greeting | undefined;
  let sent = 0;
  let echoed = 0;
  let timer: NodeJS.Timeout | undefined;
  socket.on("error", () => undefined); // "close" follows
  socket.on("close", (code) => {
    clearInterval(timer);
    closing.resolve(code);
  });
  socket.on("message", (data: Buffer) => {
    const text = data.toString();
    if (!greeting) return void (greeting = JSON.parse(text) as Greeting);
    echoed += 1;
    if (Number.parseInt(text, 10) !== echoed) faults.push(`${text.slice(0, 12)} came as number ${echoed}`);
    return undefined;
  });
  socket.on("unexpected-response", (request, response) => {
    request.destroy();
    socket.emit("error", new CallRefusedError(response.statusCode ?? 0));
  });
  await within(once(socket, "open"), OPEN_MS, "open socket");
  const { sessionId, version, pid } = await until(() => greeting, OPEN_MS, "greeting of the bot");
  timer = setInterval(() => {
    sent += 1;
    socket.send(`${sent} ${FRAME_PADDING}`);
  }, FRAME_MS);
  const closed = (timeoutMs = 15_000): Promise<number> =>
    within(closing.promise, timeoutMs, "end of the call");
  const fallSilent = (): void => clearInterval(timer);
  return {
    sessionId,
    version,
    pid,
    faults,
    get sent() {
      return sent;
    },
    get echoed() {
      return echoed;
    },
    get isOpen() {
      return socket.readyState === socket.OPEN;
    },
    say: (text) => socket.send(text),
    fallSilent,
    closed,
    leave() {
      fallSilent();
      socket.close(1000);
      return closed();
    },
    [Symbol.dispose]() {
      fallSilent();
      socket.terminate();
    },
  };
}

/** The upgrade was answered with something else than 101. */
export class CallRefusedError extends Error {
  override readonly name = "CallRefusedError";
  readonly status: number;

  constructor(status: number) {
    super(`The WebSocket was refused with ${status}`);
    this.status = status;
  }
}

const OPEN_MS = 65_000; // a start that no instance takes is refused after a minute
