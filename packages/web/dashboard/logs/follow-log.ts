import type { LogLine } from "@vocalhost/protocol";
import { createStore, type Store } from "../../shared/store.ts";
import { api } from "../data/api.ts";
import { isMissing, toSentence } from "../data/problem.ts";
import { createLogBuffer, type LogBuffer } from "./log-buffer.ts";

export interface LogQuery {
  agentName: string;
  sessionId?: string | undefined;
  deploymentId?: string | undefined;
  query?: string | undefined;
  /** In Unix seconds: nothing from before is shown. */
  startTime?: number | undefined;
}

export type FollowState = { kind: "connecting" } | { kind: "live" } | { kind: "broken"; why: string };

const AGAIN_MS = 2_000;
const PORTION_MS = 100; // a flood is drawn ten times a second

/** The visible part of a log, and how it is loaded. */
export interface FollowedLog {
  buffer: LogBuffer;
  state: Store<FollowState>;
  /** Fills the buffer until the signal aborts; goes on after the last line when the connection was lost. */
  follow(signal: AbortSignal): Promise<void>;
}

export function createFollowedLog(query: LogQuery): FollowedLog {
  const buffer = createLogBuffer();
  const state = createStore<FollowState>({ kind: "connecting" });
  let after: string | undefined;
  let portion: LogLine[] = [];

  async function readLines(signal: AbortSignal): Promise<void> {
    const { agentName, startTime = 0, ...filters } = query;
    const lines = api().agents.tailLogs(agentName, {
      ...withoutEmpty(filters),
      signal,
      ...(after === undefined ? {} : { after }),
      opened: () => state.set({ kind: "live" }),
    });
    for await (const { id, line } of lines) {
      after = id;
      // A tail begins with the newest lines, however old they are.
      if (Date.parse(line.timestamp) >= startTime * 1000) portion.push(line);
    }
  }

  return {
    buffer,
    state,
    async follow(signal) {
      const timer = setInterval(() => {
        buffer.add(portion);
        portion = [];
      }, PORTION_MS);
      signal.addEventListener("abort", () => clearInterval(timer));
      while (!signal.aborted) {
        try {
          await readLines(signal);
        } catch (error) {
          if (signal.aborted) return;
          state.set({ kind: "broken", why: toSentence(error) });
          if (isMissing(error)) return;
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    },
  };
}

/** The lines before those that are shown; the newest of them last. */
export async function readEarlier(
  { agentName, ...filters }: LogQuery,
  options: { before: string; limit: number },
): Promise<LogLine[]> {
  const { logs } = await api().agents.logs(agentName, {
    ...withoutEmpty(filters),
    order: "desc",
    limit: options.limit,
    endTime: Math.ceil(Date.parse(options.before) / 1000),
  });
  return logs.toReversed();
}

export function withoutEmpty<T extends Record<string, string | number | undefined>>(
  filters: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(filters).filter(([, value]) => value !== undefined && value !== ""),
  ) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
