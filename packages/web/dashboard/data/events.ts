import type { QueryClient } from "@tanstack/react-query";
import { createStore } from "../../shared/store.ts";
import { api } from "./api.ts";
import { chosenOrganization } from "./session.ts";

/** Whether changes arrive by themselves. */
export const live = createStore<"connecting" | "live" | "polling">("connecting");

const AGAIN_MS = 2_000;
const AGAIN_MAX_MS = 30_000;
const SILENCE_MS = 40_000; // the service gives a sign of life every 15 seconds

/** The queries to repeat after a change of each kind. The second part of a key names the subject. */
const readers = {
  agents: ["agents", "agent", "deployments", "pool"],
  deployments: ["agents", "agent", "deployments", "pool"],
  instances: ["agents", "agent", "pool"],
  sessions: ["agents", "agent", "sessions", "session", "pool"],
  builds: ["builds"],
} as const;

/** Follows the service's events until the signal aborts; a lost connection is looked for again. */
export async function followEvents(queryClient: QueryClient, signal: AbortSignal): Promise<void> {
  let waitMs = AGAIN_MS;
  while (!signal.aborted) {
    const silence = watchSilence();
    try {
      for await (const { line: event } of api().events({
        signal: AbortSignal.any([signal, silence.signal]),
      })) {
        silence.heard();
        if (live.get() !== "live") {
          live.set("live");
          waitMs = AGAIN_MS;
          void queryClient.invalidateQueries(); // events may have been missed
          continue;
        }
        const about = new Set<string>(event.changed.flatMap((kind) => [...readers[kind]]));
        void queryClient.invalidateQueries({
          predicate: ({ queryKey: [organization, what] }) =>
            organization === chosenOrganization.get() && about.has(String(what)),
        });
      }
    } catch {
      // Said by the state below, and tried again.
    } finally {
      silence.stop();
    }
    if (signal.aborted) return;
    live.set("polling");
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(waitMs * 2, AGAIN_MAX_MS);
  }
}

/** Aborts after a long silence: a connection can be dead without having been closed. */
function watchSilence() {
  const silent = new AbortController();
  const end = () => silent.abort();
  const start = () => setTimeout(end, SILENCE_MS);
  let timer = start();
  addEventListener("offline", end);
  return {
    signal: silent.signal,
    heard() {
      clearTimeout(timer);
      timer = start();
    },
    stop() {
      clearTimeout(timer);
      removeEventListener("offline", end);
    },
  };
}
