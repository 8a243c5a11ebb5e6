import { AppError, type IceCandidate, type IceServer } from "@vocalhost/protocol";
import { Worker } from "node:worker_threads";
import type { Log } from "../log.ts";
import { createOutbox } from "../outbox.ts";
import {
  DEFAULT_MEDIA_TIMING,
  type MediaCommand,
  type MediaEffort,
  type MediaEvent,
  type MediaProblem,
  type MediaRates,
  type MediaReach,
  type MediaTiming,
  type MediaWorkerData,
} from "./messages.ts";
import { ownProgram } from "../own-files.ts";

/** The main thread's side of the media thread. */
export interface MediaHost extends AsyncDisposable {
  open(on: MediaHandlers): MediaPort;
  /** Gets ready for a first offer that may be about to come, with other ICE servers for connections opened from now on. */
  prepare(iceServers?: IceServer[]): void;
}

/** One connection, as the main thread sees it. */
export interface MediaPort {
  offer(sdp: string, rebuild: boolean): Promise<string>;
  addCandidates(candidates: IceCandidate[]): void;
  attach(rates: MediaRates): void;
  play(samples: Int16Array): void;
  clear(generation: number): void;
  pause(paused: boolean): void;
  send(text: string): void;
  close(sayGoodbye: boolean): void;
}

/** Gets every event of one connection but the answers to offers. */
export type MediaHandlers = (event: MediaNews) => void;
export type MediaNews = Exclude<MediaEvent, { type: "answer" | "offer-refused" }>;

export interface MediaHostOptions {
  log: Log;
  /** For one connection; credentials in it are for that one. */
  iceServers(): IceServer[];
  /** @default any port of the machine's own addresses */
  reach?: MediaReach;
  /** 1 to 10: quality against CPU. @default 5 */
  opusComplexity?: number;
  /** When to start the thread, which costs some 25 MB: now, or once it is prepared for or needed. @default "now" */
  start?: "now" | "later";
  timing?: Partial<MediaTiming>;
}

const OFFER_DEADLINE_MS = 10_000;
const SHUT_DOWN_MS = 3_000;
const BATCH_MS = 10; // what many bots say crosses together; each packet waits for its time there

interface Answering {
  resolve(sdp: string): void;
  reject(error: Error): void;
}

export function startMediaHost(options: MediaHostOptions): MediaHost {
  const { log } = options;
  const ports = new Map<number, { handle: MediaHandlers; answering: Map<number, Answering> }>();
  let { iceServers } = options;
  let worker: Worker | undefined;
  let lastConnection = 0;
  let lastRequest = 0;
  let disposed = false;

  function startWorker(): Worker {
    const workerData: MediaWorkerData = {
      opusComplexity: options.opusComplexity ?? 5,
      reach: options.reach ?? { port: undefined, addresses: [] },
      timing: { ...DEFAULT_MEDIA_TIMING, ...options.timing },
    };
    const started = new Worker(ownProgram("media/media-worker"), { workerData });
    started.on("message", receive);
    started.on("error", (error) => log.error({ err: error }, "media thread failed"));
    started.on("exit", (code) => {
      if (worker !== started) return;
      worker = undefined; // the next offer starts another
      log.error({ code, connections: ports.size }, "media thread ended");
      for (const id of [...ports.keys()])
        receive([{ type: "closed", connection: id, reason: "client-lost" }]);
    });
    return started;
  }

  function receive(events: MediaEvent[] | MediaProblem | MediaEffort): void {
    if ("error" in events) return log.warn({ reason: events.error }, "media thread met an error");
    if ("complexity" in events) return log.warn({ ...events }, "opus complexity changed");
    for (const event of events) {
      const port = ports.get(event.connection);
      if (!port) continue;
      if (event.type === "answer") port.answering.get(event.request)?.resolve(event.sdp);
      else if (event.type === "offer-refused") port.answering.get(event.request)?.reject(refusalOf(event));
      else {
        if (event.type === "closed") forget(event.connection);
        port.handle(event);
      }
    }
    return undefined;
  }

  function forget(connection: number): void {
    const port = ports.get(connection);
    ports.delete(connection);
    for (const waiting of port?.answering.values() ?? []) waiting.reject(connectionIsOver());
  }

  const outbox = createOutbox<MediaCommand>({
    batchMs: BATCH_MS,
    send(commands) {
      if (disposed) return;
      worker ??= startWorker();
      worker.postMessage(commands);
    },
  });

  function post(command: MediaCommand): void {
    outbox.post(command, command.type === "audio");
  }

  if (options.start !== "later") worker = startWorker(); // before the first caller needs it
  return {
    open(handle) {
      lastConnection += 1;
      const connection = lastConnection;
      const answering = new Map<number, Answering>();
      ports.set(connection, { handle, answering });
      return {
        async offer(sdp, rebuild) {
          if (!ports.has(connection)) throw connectionIsOver();
          lastRequest += 1;
          const request = lastRequest;
          const { promise, resolve, reject } = Promise.withResolvers<string>();
          answering.set(request, { resolve, reject });
          const timer = setTimeout(() => {
            log.warn(
              { waitedMs: OFFER_DEADLINE_MS },
              "no answer to an offer in time, the machine is too busy",
            );
            reject(
              new AppError("SERVICE_UNAVAILABLE", { message: "No answer to the offer in time, try again" }),
            );
          }, OFFER_DEADLINE_MS);
          post({ type: "offer", connection, request, sdp, rebuild, iceServers: iceServers() });
          try {
            const answer = await promise;
            post({ type: "answered", connection });
            return answer;
          } finally {
            clearTimeout(timer);
            answering.delete(request);
          }
        },
        addCandidates: (candidates) => post({ type: "candidates", connection, candidates }),
        attach: (rates) => post({ type: "attach", connection, rates }),
        play: (samples) => post({ type: "audio", connection, samples }),
        clear: (generation) => post({ type: "clear", connection, generation }),
        pause: (paused) => post({ type: "pause", connection, paused }),
        send: (text) => post({ type: "message", connection, text }),
        close: (sayGoodbye) => post({ type: "close", connection, sayGoodbye }),
      };
    },
    prepare(next) {
      if (next) iceServers = () => next;
      if (!disposed) worker ??= startWorker();
    },
    async [Symbol.asyncDispose]() {
      const ending = worker;
      disposed = true;
      worker = undefined;
      if (!ending) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      ending.once("exit", () => resolve());
      const timer = setTimeout(() => void ending.terminate(), SHUT_DOWN_MS);
      ending.postMessage("shut-down");
      await promise;
      clearTimeout(timer);
    },
  };
}

function refusalOf({ reason, isOurFault }: MediaEvent & { type: "offer-refused" }): AppError {
  return new AppError(isOurFault ? "SERVICE_UNAVAILABLE" : "INVALID_SDP", { message: reason });
}

function connectionIsOver(): AppError {
  return new AppError("INVALID_WEBRTC_REQUEST", { message: "The peer connection was closed" });
}
