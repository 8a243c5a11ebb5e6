// Runs a gateway in its own process, so that a test can measure its memory.
import { startGateway } from "../start-gateway.ts";
import type { GatewayTiming } from "../gateway-options.ts";

export interface ChildOptions {
  controllerSocket: string;
  timing: Partial<GatewayTiming>;
}

export type ChildMessage = { kind: "ready"; port: number } | { kind: "memory"; bytes: number };

const silent = (): void => undefined;
const { controllerSocket, timing } = JSON.parse(process.argv[2] ?? "{}") as ChildOptions;
const gateway = await startGateway({
  host: "127.0.0.1",
  port: 0,
  controllers: { socket: controllerSocket },
  log: { debug: silent, info: silent, warn: silent, error: silent },
  timing,
});
const say = (message: ChildMessage): void => void process.send?.(message);
process.on("message", () => {
  globalThis.gc?.();
  say({ kind: "memory", bytes: process.memoryUsage().rss });
});
process.on("disconnect", () => process.exit(0));
say({ kind: "ready", port: gateway.port });
