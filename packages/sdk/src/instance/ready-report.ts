import type { ReadyReport } from "@vocalhost/protocol";
import { readFileSync } from "node:fs";
import { request as requestHttp } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { InstanceConfig } from "./config.ts";

export type ReadyReportConfig = Pick<InstanceConfig, "readyEndpoint" | "instanceId" | "token">;

const ANSWER_MS = 1_000;
const AGAIN_MS = [100, 500]; // by then the driver has found the instance by itself
const STARVED_EVERY_MS = 2_000; // most bots are loaded by then and send none

/** Tells the driver where the instance takes requests. Never rejects: the driver would find it anyway, only later. */
export async function reportReady(config: ReadyReportConfig, address: string): Promise<void> {
  if (config.readyEndpoint === undefined) return;
  for (const againMs of [...AGAIN_MS, 0]) {
    if (await isHeard(config, { address })) return;
    await pause(againMs, undefined, { ref: false });
  }
}

/** Until disposed of, tells the driver how long the boot has waited for the processor: a slow boot is no crash. */
export function reportStarvation(config: ReadyReportConfig): Disposable {
  const timer = setInterval(() => {
    const starvedMs = readStarvedMs();
    if (starvedMs !== undefined) void isHeard(config, { starvedMs });
  }, STARVED_EVERY_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Returns how long the main thread has waited for the processor; undefined where the kernel does not count. */
function readStarvedMs(): number | undefined {
  try {
    const [, waitedNs] = readFileSync("/proc/self/schedstat", "utf8").split(" ");
    return waitedNs === undefined ? undefined : Math.round(Number(waitedNs) / 1e6);
  } catch {
    return undefined;
  }
}

async function isHeard(
  { readyEndpoint = "", instanceId, token }: ReadyReportConfig,
  report: ReadyReport,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const body = JSON.stringify(report);
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
