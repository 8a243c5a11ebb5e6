import type { BotServer } from "../../shared/connection/bot-server.ts";
import { invitationAddress, parseInvitation } from "./invitation.ts";

let invitation = parseInvitation(location.hash);
// The token admits every holder, so it must not stay in the address bar.
if (invitation) history.replaceState(null, "", location.pathname);

/** Whether this page was opened to join a room. */
export const wasInvited: boolean = invitation !== undefined;

/** The runner this page came from. */
export const runner: BotServer = {
  startUrl: "/start",
  filterAt(answer) {
    const { sessionId } = (answer ?? {}) as { sessionId?: unknown };
    if (typeof sessionId !== "string") return undefined;
    return { url: `/sessions/${encodeURIComponent(sessionId)}/api/voice-filter`, headers: {} };
  },
  takeStarted(transport) {
    if (transport !== "room" || !invitation) return undefined;
    const { url, token, sessionId } = invitation;
    invitation = undefined;
    return { url, token, sessionId };
  },
  isThere: async () => (await readRunnerStatus()).kind === "ready",
};

/** An address for one more to come into the room of a session. */
export async function inviteInto(sessionId: string): Promise<string> {
  const response = await fetch(`/sessions/${encodeURIComponent(sessionId)}/api/invite`, { method: "POST" });
  const answer = (await response.json()) as { url?: string; token?: string; error?: string };
  if (!response.ok || !answer.url || !answer.token)
    throw new Error(answer.error ?? "The runner gave no invitation");
  return invitationAddress(location.origin, { url: answer.url, token: answer.token, sessionId });
}

/** The runner's status. */
export type RunnerStatus =
  | { kind: "looking" }
  | { kind: "ready"; transports: string[] }
  | { kind: "unreachable" };

const STATUS_TIMEOUT_MS = 4_000;

export async function readRunnerStatus(): Promise<RunnerStatus> {
  try {
    const response = await fetch("/status", {
      signal: AbortSignal.timeout(STATUS_TIMEOUT_MS),
      cache: "no-store",
    });
    const answer: unknown = response.ok ? await response.json() : undefined;
    return parseStatus(answer) ?? { kind: "unreachable" };
  } catch {
    return { kind: "unreachable" };
  }
}

function parseStatus(answer: unknown): RunnerStatus | undefined {
  if (typeof answer !== "object" || answer === null || !("transports" in answer)) return undefined;
  if (!Array.isArray(answer.transports)) return undefined;
  const transports = answer.transports.filter((name) => typeof name === "string");
  return { kind: "ready", transports };
}
