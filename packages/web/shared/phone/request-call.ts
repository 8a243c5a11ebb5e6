import type { CarrierName } from "@vocalhost/protocol";
import { problem, refusalText, type Problem } from "../events/problem.ts";
import type { BotServer } from "../connection/bot-server.ts";
import { toCallAddress } from "./call-address.ts";

const START_LIMIT_MS = 30_000; // a cold start of a hosted bot

/** Asks where a carrier's media stream would go. */
export async function requestCall(options: {
  server: BotServer;
  carrier: CarrierName;
  /** Handed to the bot; `undefined` sends none. */
  body: unknown;
  signal: AbortSignal;
}): Promise<{ address: string } | { problem: Problem }> {
  const { server, carrier, body, signal } = options;
  const limit = AbortSignal.timeout(START_LIMIT_MS);
  try {
    const response = await fetch(server.startUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ transport: carrier, ...(body === undefined ? {} : { body }) }),
      signal: AbortSignal.any([signal, limit]),
    });
    const answer: unknown = await response.json().catch(() => undefined);
    if (!response.ok) return { problem: refusal(response.status, answer) };
    const address = toCallAddress(answer);
    return address ? { address } : { problem: problem("start-refused", "The response contains no address.") };
  } catch {
    return { problem: problem(limit.aborted ? "start-timeout" : "runner-unreachable") };
  }
}

function refusal(status: number, answer: unknown): Problem {
  const { detail } = (answer ?? {}) as { detail?: unknown };
  return problem("start-refused", refusalText(detail) ?? `HTTP status ${status}`);
}
