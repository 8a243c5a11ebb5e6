import { setTimeout as pause } from "node:timers/promises";
import type { BotDefinition, Readiness } from "../bot/bot.ts";
import type { Log } from "../log.ts";

const READYZ_MS = 1_000; // an answer that takes longer is none

/** A bot in JavaScript may forget to give one. */
type Answer = Readiness | null | undefined;

/** Whether the bot would take a session now. One without an opinion always does. */
export async function isReady(definition: BotDefinition | undefined, log: Log): Promise<boolean> {
  if (!definition) return false;
  if (!definition.readyz) return true;
  const patience = new AbortController();
  try {
    const late = pause(READYZ_MS, false, { signal: patience.signal }).catch(() => false);
    const answer = (await Promise.race([definition.readyz(), late])) as Answer;
    return Boolean(typeof answer === "object" ? answer?.ready : answer);
  } catch (error) {
    log.warn({ err: error }, "readyz failed");
    return false;
  } finally {
    patience.abort();
  }
}
