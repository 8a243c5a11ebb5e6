import type { BotServer } from "../../shared/connection/bot-server.ts";
import { readRunnerStatus } from "./runner-status.ts";

/** The runner this page came from. */
export const runner: BotServer = {
  startUrl: "/start",
  filterAt(answer) {
    const { sessionId } = (answer ?? {}) as { sessionId?: unknown };
    if (typeof sessionId !== "string") return undefined;
    return { url: `/sessions/${encodeURIComponent(sessionId)}/api/voice-filter`, headers: {} };
  },
  isThere: async () => (await readRunnerStatus()).kind === "ready",
};
