import { InstanceEvent, type InstanceStatus } from "@vocalhost/protocol";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { ANSWER_MAX_BYTES, splitAddress } from "./ask-instance.ts";
import type { InstanceReport, InstanceTarget } from "./instance-network.ts";

/** Listens to one instance, and comes back when the connection breaks. */
export interface Ear {
  target: InstanceTarget;
  report(): InstanceReport | undefined;
  /** Heartbeats in a row. */
  missed(): number;
  close(): void;
}

export interface EarOptions {
  token: string;
  clock: Clock;
  heartbeatMs: number;
  log: Log;
  /** It said something, be it only that it is there. */
  spoke(status: InstanceStatus): void;
  /** Something somebody has to act on. */
  heard(): void;
}

const RECONNECT_MS = 200;
const NEWLINE = 0x0a;

export function openEar(target: InstanceTarget, options: EarOptions): Ear {
  const { token, clock, heartbeatMs, log } = options;
  let report: InstanceReport | undefined;
  let missed = 0;
  let closed = false;
  let request: ClientRequest | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  const openedAtMs = clock.monotonicMs();

  function hear(line: string): void {
    const event = InstanceEvent.safeParse(parseJson(line));
    if (!event.success) return log.warn({ instanceId: target.id }, "instance said something strange");
    const { status } = event.data;
    const isNews = missed > 0 || !report || newsIn(status) !== newsIn(report.status);
    missed = 0;
    report = { status, heardAtMs: clock.monotonicMs(), heardAt: clock.nowMs() };
    options.spoke(status);
    if (isNews) options.heard(); // a mere heartbeat can wait for the next round
  }

  function connect(): void {
    if (closed) return;
    const [host, port] = splitAddress(target.address);
    request = httpRequest({
      host,
      port,
      path: "/instance/events",
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    });
    request.on("response", (response) => {
      if (response.statusCode !== 200) return void response.resume();
      endAtOverlongLines(response);
      const lines = createInterface({ input: response });
      lines.on("line", hear);
      lines.on("error", () => undefined); // the request's own error tells
      return undefined;
    });
    request.on("error", () => undefined);
    request.on("close", () => {
      if (!closed) reconnect = setTimeout(connect, RECONNECT_MS);
    });
    request.end();
  }

  const watchdog = setInterval(() => {
    const sinceMs = clock.monotonicMs() - (report?.heardAtMs ?? openedAtMs);
    if (sinceMs < heartbeatMs * 1.5) return;
    missed++;
    options.heard();
  }, heartbeatMs);
  connect();
  return {
    target,
    report: () => report,
    missed: () => missed,
    close() {
      closed = true;
      clearInterval(watchdog);
      clearTimeout(reconnect);
      request?.destroy();
    },
  };
}

/** What somebody has to act on. That it took its session is known to whoever gave it one. */
function newsIn({ ready, session }: InstanceStatus): "over" | "of use" | "of no use" {
  if (session?.state === "ended") return "over";
  return ready || session ? "of use" : "of no use";
}

function endAtOverlongLines(response: IncomingMessage): void {
  let lineBytes = 0;
  response.on("data", (chunk: Buffer) => {
    const newline = chunk.lastIndexOf(NEWLINE);
    lineBytes = newline < 0 ? lineBytes + chunk.length : chunk.length - newline - 1;
    if (lineBytes > ANSWER_MAX_BYTES) response.destroy();
  });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
