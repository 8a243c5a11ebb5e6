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
  /** Starts the thread for an offer that may come, and sets ICE servers for connections opened from now on. */
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

/** Receives all events of one connection except the answers to offers. */
export type MediaHandlers = (event: MediaNews) => void;
export type MediaNews = Exclude<MediaEvent, { type: "answer" | "offer-refused" }>;

export interface MediaHostOptions {
  log: Log;
  /** Returns ICE servers for one connection; credentials in them are for that one alone. */
  iceServers(): IceServer[];
  /** @default any port of the machine's own addresses */
  reach?: MediaReach;
  /** Quality against CPU time, from 1 to 10. @default 5 */
  opusComplexity?: number;
  /** When to start the thread, which costs about 25 MB: now, or when it is first needed. @default "now" */
  start?: "now" | "later";
  timing?: Partial<MediaTiming>;
}

const OFFER_DEADLINE_MS = 10_000;
const SHUT_DOWN_MS = 3_000;
const BATCH_MS = 10; // audio of many bots crosses together; packets are paced in the media thread

interface Answering {
  resolve(sdp: string): void;
  reject(error: Error): void;
}

export function startMediaHost(options: MediaHostOptions): MediaHost {
  return new MediaThread(options);
}

class MediaThread implements MediaHost {
  readonly #options: MediaHostOptions;
  readonly #ports = new Map<number, { handle: MediaHandlers; answering: Map<number, Answering> }>();
  #iceServers: () => IceServer[];
  #worker: Worker | undefined;
  #lastConnection = 0;
  #lastRequest = 0;
  #disposed = false;
  readonly #outbox = createOutbox<MediaCommand>({
    batchMs: BATCH_MS,
    send: (commands) => {
      if (this.#disposed) return;
      this.#worker ??= this.#startWorker();
      this.#worker.postMessage(commands);
    },
  });

  constructor(options: MediaHostOptions) {
    this.#options = options;
    this.#iceServers = options.iceServers;
    if (options.start !== "later") this.#worker = this.#startWorker(); // before the first caller needs it
  }

  open(handle: MediaHandlers): MediaPort {
    this.#lastConnection += 1;
    const connection = this.#lastConnection;
    const answering = new Map<number, Answering>();
    this.#ports.set(connection, { handle, answering });
    return {
      offer: async (sdp, rebuild) => {
        if (!this.#ports.has(connection)) throw connectionIsOver();
        this.#lastRequest += 1;
        const request = this.#lastRequest;
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        answering.set(request, { resolve, reject });
        const timer = setTimeout(() => {
          this.#options.log.warn(
            { waitedMs: OFFER_DEADLINE_MS },
            "offer not answered in time, the machine is overloaded",
          );
          reject(
            new AppError("SERVICE_UNAVAILABLE", { message: "No answer to the offer in time, try again" }),
          );
        }, OFFER_DEADLINE_MS);
        this.#post({
          type: "offer",
          connection,
          request,
          sdp,
          rebuild,
          iceServers: this.#iceServers(),
        });
        try {
          const answer = await promise;
          this.#post({ type: "answered", connection });
          return answer;
        } finally {
          clearTimeout(timer);
          answering.delete(request);
        }
      },
      addCandidates: (candidates) => this.#post({ type: "candidates", connection, candidates }),
      attach: (rates) => this.#post({ type: "attach", connection, rates }),
      play: (samples) => this.#post({ type: "audio", connection, samples }),
      clear: (generation) => this.#post({ type: "clear", connection, generation }),
      pause: (paused) => this.#post({ type: "pause", connection, paused }),
      send: (text) => this.#post({ type: "message", connection, text }),
      close: (sayGoodbye) => this.#post({ type: "close", connection, sayGoodbye }),
    };
  }

  prepare(next?: IceServer[]): void {
    if (next) this.#iceServers = () => next;
    if (!this.#disposed) this.#worker ??= this.#startWorker();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ending = this.#worker;
    this.#disposed = true;
    this.#worker = undefined;
    if (!ending) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    ending.once("exit", () => resolve());
    const timer = setTimeout(() => void ending.terminate(), SHUT_DOWN_MS);
    ending.postMessage("shut-down");
    await promise;
    clearTimeout(timer);
  }

  #startWorker(): Worker {
    const workerData: MediaWorkerData = {
      opusComplexity: this.#options.opusComplexity ?? 5,
      reach: this.#options.reach ?? { port: undefined, addresses: [] },
      timing: { ...DEFAULT_MEDIA_TIMING, ...this.#options.timing },
    };
    const started = new Worker(ownProgram("media/media-worker"), { workerData });
    started.on("message", this.#receive);
    started.on("error", (error) => this.#options.log.error({ err: error }, "media thread failed"));
    started.on("exit", (code) => {
      if (this.#worker !== started) return;
      this.#worker = undefined; // the next offer starts another
      this.#options.log.error({ code, connections: this.#ports.size }, "media thread ended");
      for (const id of [...this.#ports.keys()])
        this.#receive([{ type: "closed", connection: id, reason: "client-lost" }]);
    });
    return started;
  }

  readonly #receive = (events: MediaEvent[] | MediaProblem | MediaEffort): void => {
    if ("error" in events)
      return this.#options.log.warn({ reason: events.error }, "media thread met an error");
    if ("complexity" in events) return this.#options.log.warn({ ...events }, "opus complexity changed");
    for (const event of events) {
      const port = this.#ports.get(event.connection);
      if (!port) continue;
      if (event.type === "answer") port.answering.get(event.request)?.resolve(event.sdp);
      else if (event.type === "offer-refused") port.answering.get(event.request)?.reject(refusalOf(event));
      else {
        if (event.type === "closed") this.#forget(event.connection);
        port.handle(event);
      }
    }
    return undefined;
  };

  #forget(connection: number): void {
    const port = this.#ports.get(connection);
    this.#ports.delete(connection);
    for (const waiting of port?.answering.values() ?? []) waiting.reject(connectionIsOver());
  }

  #post(command: MediaCommand): void {
    this.#outbox.post(command, command.type === "audio");
  }
}

function refusalOf({ reason, isOurFault }: MediaEvent & { type: "offer-refused" }): AppError {
  return new AppError(isOurFault ? "SERVICE_UNAVAILABLE" : "INVALID_SDP", { message: reason });
}

function connectionIsOver(): AppError {
  return new AppError("INVALID_WEBRTC_REQUEST", { message: "The peer connection was closed" });
}
