import type { FastifyInstance } from "fastify";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { SessionApp } from "../../packages/sdk/src/server/session-app.ts";
import { programOf } from "../../testing/programs.ts";

/** Resources the process holds, as it sees them itself. */
export interface Figures {
  sessions: number;
  /** How many of each kind keep the loop alive. */
  resources: Record<string, number>;
  heapMib: number;
  /** Longest time the loop was late since the last question. */
  loopDelayMs: number;
}

/** `GET /figures` of the runner that a bot's `main()` starts. */
export async function mountRunnerFigures(): Promise<void> {
  // The very module that `vocalhost/runner` runs on, be that its sources or what is built of them.
  const { sessionApp } = (await import(pathToFileURL(programOf("sdk", "runtime/app")).href)) as {
    sessionApp: SessionApp;
  };
  mountFigures(sessionApp.app, sessionApp.sessions);
}

/** `GET /figures` collects garbage, then counts. */
export function mountFigures(app: FastifyInstance, sessions: { readonly size: number }): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  app.get("/figures", async (): Promise<Figures> => {
    const loopDelayMs = delay.max / 1e6;
    collect();
    const resources: Record<string, number> = {};
    for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
    const heapMib = process.memoryUsage().heapUsed / 2 ** 20;
    delay.reset();
    return { sessions: sessions.size, resources, heapMib, loopDelayMs };
  });
}
