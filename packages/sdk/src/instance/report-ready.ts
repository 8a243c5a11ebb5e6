import type { ReadyReport } from "@vocalhost/protocol";
import { request as requestHttp } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

export interface ReportReadyOptions {
  readyEndpoint: string;
  instanceId: string;
  token: string;
  address: string;
}

const ANSWER_MS = 1_000;
const AGAIN_MS = [100, 500]; // afterwards we have been found without a word

/** Tells whoever waits for this instance that it takes requests. Never rejects: it hastens, and is not needed. */
export async function reportReady(options: ReportReadyOptions): Promise<void> {
  for (const againMs of [...AGAIN_MS, 0]) {
    if (await isHeard(options)) return;
    await pause(againMs, undefined, { ref: false });
  }
}

async function isHeard({ readyEndpoint, instanceId, token, address }: ReportReadyOptions): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const body = JSON.stringify({ address } satisfies ReadyReport);
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  const options = { method: "POST", headers, agent: false, timeout: ANSWER_MS } as const;
  const request = requestHttp(`${readyEndpoint.replace(/\/+$/, "")}/${instanceId}`, options, (response) => {
    response.resume();
    resolve(true); // also a refusal: asking again would change nothing
  });
  request.on("timeout", () => request.destroy());
  request.on("error", () => resolve(false));
  request.end(body);
  return promise;
}
