import { pause } from "../../machine/child.ts";
import { coresUsed, readUsage } from "../../machine/usage.ts";
import { freeAgents, type PretendedService } from "./service.ts";

const REST_MS = 6_000;

/** Many starts, and what one of them cost. */
export interface Burst {
  callers: number;
  tookMs: number[];
  perSecond: number;
  /** Of one start, with what the service did beside it at rest taken off. */
  statements: number;
  controllerMs: number;
  gatewayMs: number;
  postgresMs: number;
}

/** Every caller asks for the next session as soon as it has one. No instance is made meanwhile. */
export async function burst(
  pretended: PretendedService,
  { callers, starts }: { callers: number; starts: number },
): Promise<Burst> {
  await pretended.fill(starts);
  const free = await freeAgents(pretended);
  const rest = await spent(pretended, () => pause(REST_MS));
  const tookMs: number[] = [];
  let left = starts;
  const load = await spent(pretended, () =>
    Promise.all(
      Array.from({ length: callers }, async () => {
        while (left-- > 0) {
          const askedMs = performance.now();
          await pretended.service.publicApi.sessions.start(next(free), { transport: "webrtc" });
          tookMs.push(performance.now() - askedMs);
        }
      }),
    ),
  );
  const each = (name: "statements" | "controllerMs" | "gatewayMs" | "postgresMs"): number =>
    Math.max(0, load[name] - (rest[name] / rest.wallMs) * load.wallMs) / starts;
  return {
    callers,
    tookMs,
    perSecond: (starts / load.wallMs) * 1_000,
    statements: each("statements"),
    controllerMs: each("controllerMs"),
    gatewayMs: each("gatewayMs"),
    postgresMs: each("postgresMs"),
  };
}

function next(free: string[]): string {
  const name = free.shift();
  if (name === undefined) throw new Error("No instance is free any more");
  return name;
}

async function spent({ service, postgres: store }: PretendedService, run: () => Promise<unknown>) {
  const controller = readUsage(service.pid("controller"));
  const gateway = readUsage(service.pid("gateway"));
  const statements = await store.statements();
  const postgresMs = store.cpuMs();
  await run();
  const after = readUsage(service.pid("controller"));
  const wallMs = after.atMs - controller.atMs;
  return {
    wallMs,
    controllerMs: coresUsed(controller, after) * wallMs,
    gatewayMs: coresUsed(gateway, readUsage(service.pid("gateway"))) * wallMs,
    postgresMs: store.cpuMs() - postgresMs,
    statements: (await store.statements()) - statements,
  };
}
