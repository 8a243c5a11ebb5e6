import { InstanceEvent, type InstanceStatus, parseJson } from "@vocalhost/protocol";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import type { Clock } from "@vocalhost/base/clock";
import type { Log } from "@vocalhost/base/log";
import { splitAddress } from "./ask-instance.ts";
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
// The bot's process is not to be trusted with our time. In one heartbeat an instance says a few lines of a kilobyte.
const LINE_MAX_BYTES = 64 * 1024;
const LINES_MAX = 50;
const NEWS_MAX = 10; // later ones wait for the next round

export function openEar(target: InstanceTarget, options: EarOptions): Ear {
  const { token, clock, heartbeatMs, log } = options;
  let report: InstanceReport | undefined;
  let missed = 0;
  let closed = false;
  let saidLines = 0; // in this heartbeat
  let isStrange = false;
  let request: ClientRequest | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  const openedAtMs = clock.monotonicMs();

  function hear(line: string): void {
    const event = InstanceEvent.safeParse(parseJson(line));
    if (!event.success) {
      if (!isStrange) log.warn({ instanceId: target.id }, "instance said something strange");
      isStrange = true;
      return;
    }
    const { status } = event.data;
    const isNews = missed > 0 || !report || newsIn(status) !== newsIn(report.status);
    missed = 0;
    report = { status, heardAtMs: clock.monotonicMs(), heardAt: clock.nowMs() };
    options.spoke(status);
    if (isNews && saidLines <= NEWS_MAX) options.heard(); // a mere heartbeat can wait for the next round
  }

  function connect(): void {
    if (closed) return;
    const [host, port] = splitAddress(target.address);
    const asked = httpRequest({
      host,
      port,
      path: "/instance/events",
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    });
    request = asked;
    let againMs = RECONNECT_MS;
    const hangUp = (): void => {
      againMs = heartbeatMs;
      asked.destroy();
    };
    asked.on("information", hangUp); // it has nothing to say before its answer
    asked.on("response", (response) => {
      if (response.statusCode !== 200) return void response.destroy();
      watchLines(response, { tooLong: hangUp });
      const lines = createInterface({ input: response });
      lines.on("line", (line) => {
        if (asked.destroyed) return; // it came with what was too much
        saidLines += 1;
        if (saidLines > LINES_MAX) hangUp();
        else hear(line);
      });
      lines.on("error", () => undefined); // the request's own error tells
      return undefined;
    });
    asked.on("error", () => undefined);
    asked.on("close", () => {
      if (!closed) reconnect = setTimeout(connect, againMs);
    });
    asked.end();
  }

  const watchdog = setInterval(() => {
    saidLines = 0;
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

function watchLines(response: IncomingMessage, { tooLong }: { tooLong(): void }): void {
  let lineBytes = 0;
  response.on("data", (chunk: Buffer) => {
    const newline = chunk.lastIndexOf(NEWLINE);
    lineBytes = newline < 0 ? lineBytes + chunk.length : chunk.length - newline - 1;
    if (lineBytes > LINE_MAX_BYTES) tooLong();
  });
}
