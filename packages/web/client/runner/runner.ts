import type { BotServer } from "../../shared/connection/bot-server.ts";
import { readRunnerStatus } from "./runner-status.ts";

/** The runner this page came from. */
export const runner: BotServer = {
  startUrl: "/start",
  isThere: async () => (await readRunnerStatus()).kind === "ready",
};
