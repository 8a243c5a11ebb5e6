import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** Records what arrives at the other end of a WebSocket and when, even while this thread is busy. */
export interface Ear extends AsyncDisposable {
  heard(): Promise<EarMessage[]>;
}

export interface EarMessage {
  /** On the clock of `performance.timeOrigin + performance.now()`. */
  atMs: number;
  bytes: Uint8Array;
  isBinary: boolean;
}

export interface EarData {
  url: string;
  /** Sent as soon as it is connected. */
  say: string[];
}

export function openEar(data: EarData): Ear {
  const worker = new Worker(new URL("./ear-worker.ts", import.meta.url), { workerData: data });
  const exited = once(worker, "exit");
  return {
    async heard() {
      worker.postMessage("heard");
      const [messages] = (await once(worker, "message")) as [EarMessage[]];
      return messages;
    },
    async [Symbol.asyncDispose]() {
      worker.postMessage("leave");
      await exited;
    },
  };
}
