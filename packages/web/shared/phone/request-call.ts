import { carriers } from "@vocalhost/carriers";
import type { CarrierName } from "@vocalhost/protocol";
import { newCallIds, type CallDetails } from "@vocalhost/simulator";
import type { BotServer } from "../connection/bot-server.ts";
import type { CallChoice } from "../connection/open-session.ts";
import { problem, refusalText, type Problem } from "../events/problem.ts";

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

/** Where the media stream goes, from the answer of `POST /start`; undefined when it does not say. */
export function toCallAddress(answer: unknown): string | undefined {
  const { wsUrl, token } = (answer ?? {}) as { wsUrl?: unknown; token?: unknown };
  if (typeof wsUrl !== "string" || !URL.canParse(wsUrl)) return undefined;
  const url = new URL(wsUrl);
  if (!["ws:", "wss:"].includes(url.protocol)) return undefined;
  if (typeof token === "string" && token) {
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${encodeURIComponent(token)}`;
  }
  return url.href;
}

/** Caller and callee, in the fields that the runner's own webhook answers use. */
export function createCallDetails(
  { carrier, from, to }: CallChoice,
  more: Record<string, string> = {}, // only where the carrier has room for them
): CallDetails {
  const parameters = carriers[carrier].passedOn({ from, to }, more);
  return { ids: newCallIds(carrier), from, to, parameters };
}
