import { InstanceEvent, type InstanceStatus, parseJson } from "@vocalhost/protocol";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import type { Clock } from "@vocalhost/base/clock";
import type { Log } from "@vocalhost/base/log";
import { splitAddress } from "./ask-instance.ts";
import type { InstanceReport, InstanceTarget } from "./instance-network.ts";

export interface HeartbeatListenerOptions {
  token: string;
  clock: Clock;
  heartbeatMs: number;
  log: Log;
  /** Called for every event, mere heartbeats included. */
  spoke(status: InstanceStatus): void;
  /** Called when the controller has to act. */
  heard(): void;
}

const RECONNECT_MS = 200;
const NEWLINE = 0x0a;
// A bot's process must not be able to use up the controller's time. In one heartbeat an instance says a few lines of a kilobyte.
const LINE_MAX_BYTES = 64 * 1024;
const LINES_MAX = 50;
const NEWS_MAX = 10; // later ones wait for the next round

/** Listens to the events of one instance, and connects again when the connection breaks. */
export class HeartbeatListener {
  readonly target: InstanceTarget;
  readonly #options: HeartbeatListenerOptions;
  readonly #openedAtMs: number;
  readonly #watchdog: NodeJS.Timeout;
  #report: InstanceReport | undefined;
  #missed = 0;
  #saidLines = 0; // in this heartbeat
  #isInvalidTold = false;
  #isClosed = false;
  #request: ClientRequest | undefined;
  #reconnect: NodeJS.Timeout | undefined;

  constructor(target: InstanceTarget, options: HeartbeatListenerOptions) {
    this.target = target;
    this.#options = options;
    this.#openedAtMs = options.clock.monotonicMs();
    this.#watchdog = setInterval(() => this.#watch(), options.heartbeatMs);
    this.#connect();
  }

  /** The last thing it said. */
  get report(): InstanceReport | undefined {
    return this.#report;
  }

  /** Heartbeats in a row. */
  get missed(): number {
    return this.#missed;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#watchdog);
    clearTimeout(this.#reconnect);
    this.#request?.destroy();
  }

  #watch(): void {
    const { clock, heartbeatMs, heard } = this.#options;
    this.#saidLines = 0;
    const sinceMs = clock.monotonicMs() - (this.#report?.heardAtMs ?? this.#openedAtMs);
    if (sinceMs < heartbeatMs * 1.5) return;
    this.#missed++;
    heard();
  }

  #connect(): void {
    if (this.#isClosed) return;
    const { token, heartbeatMs } = this.#options;
    const [host, port] = splitAddress(this.target.address);
    const headers = { authorization: `Bearer ${token}` };
    const request = httpRequest({ host, port, path: "/instance/events", headers, agent: false });
    this.#request = request;
    let againMs = RECONNECT_MS;
    const hangUp = (): void => {
      againMs = heartbeatMs;
      request.destroy();
    };
    request.on("information", hangUp); // an instance sends nothing before its answer
    request.on("response", (response) => {
      if (response.statusCode === 200) this.#listen(response, { request, hangUp });
      else response.destroy();
    });
    request.on("error", () => undefined);
    request.on("close", () => {
      if (!this.#isClosed) this.#reconnect = setTimeout(() => this.#connect(), againMs);
    });
    request.end();
  }

  #listen(response: IncomingMessage, { request, hangUp }: { request: ClientRequest; hangUp(): void }): void {
    limitLines(response, { tooLong: hangUp });
    const lines = createInterface({ input: response });
    lines.on("line", (line) => {
      if (request.destroyed) return; // it came with the line that was too much
      this.#saidLines += 1;
      if (this.#saidLines > LINES_MAX) hangUp();
      else this.#hear(line);
    });
    lines.on("error", () => undefined); // the request has the same error
  }

  #hear(line: string): void {
    const { clock, log, spoke, heard } = this.#options;
    const event = InstanceEvent.safeParse(parseJson(line));
    if (!event.success) {
      if (!this.#isInvalidTold) log.warn({ instanceId: this.target.id }, "instance sent an invalid event");
      this.#isInvalidTold = true;
      return;
    }
    const { status } = event.data;
    const isNews = this.#missed > 0 || !this.#report || useOf(status) !== useOf(this.#report.status);
    this.#missed = 0;
    this.#report = { status, heardAtMs: clock.monotonicMs(), heardAt: clock.nowMs() };
    spoke(status);
    if (isNews && this.#saidLines <= NEWS_MAX) heard(); // a mere heartbeat can wait for the next round
  }
}

/** The controller acts when this changes. That a session was taken is known to the start that gave it. */
function useOf({ ready, session }: InstanceStatus): "over" | "of use" | "of no use" {
  if (session?.state === "ended") return "over";
  return ready || session ? "of use" : "of no use";
}

function limitLines(response: IncomingMessage, { tooLong }: { tooLong(): void }): void {
  let lineBytes = 0;
  response.on("data", (chunk: Buffer) => {
    const newline = chunk.lastIndexOf(NEWLINE);
    lineBytes = newline < 0 ? lineBytes + chunk.length : chunk.length - newline - 1;
    if (lineBytes > LINE_MAX_BYTES) tooLong();
  });
}
