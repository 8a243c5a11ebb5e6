import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile } from "../report/statistics.ts";
import { startChild, printed } from "../machine/child.ts";

export interface Reads {
  perSecond: number;
  p99Ms: number;
}

const CONNECTIONS = 16;

/** As many requests as 16 connections get answered. */
export async function reads(url: string, headers: Record<string, string>, forMs: number): Promise<Reads> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const tookMs: number[] = [];
  const untilMs = performance.now() + forMs;
  const one = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const startedMs = performance.now();
      const request = get(url, { agent, headers });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`);
      response.resume();
      await once(response, "end");
      tookMs.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  agent.destroy();
  return { perSecond: tookMs.length / (forMs / 1000), p99Ms: percentile(tookMs, 0.99) };
}

/** The same load, through a gateway of its own, on a route that does nothing. */
export async function bareReads(forMs: number): Promise<Reads> {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-bench-"));
  const socket = join(folder, "controller.sock");
  try {
    await using route = startChild({ file: "bench/hosted/bare-route.ts", args: [socket] });
    await printed(route, /bare route listens/);
    await using gateway = startChild({
      file: "packages/control-plane/src/main/gateway-main.ts",
      environment: { VOCALHOST_PORT: "0", VOCALHOST_DATA_DIR: folder, VOCALHOST_CONTROLLER_SOCKET: socket },
    });
    const [, url] = await printed(gateway, /"url":"(http:[^"]+)"/);
    return await reads(`${url}/v1/regions`, {}, forMs);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
