import type { BotServer } from "../../shared/connection/bot-server.ts";
import { invitationAddress, parseInvitation } from "./invitation.ts";
import { readRunnerStatus } from "./runner-status.ts";

let invitation = parseInvitation(location.hash);
// The token lets anybody in who sees it, and works once for each.
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
  if (!response.ok || !answer.url || !answer.token) throw new Error(answer.error ?? "Nobody can be invited");
  return invitationAddress(location.origin, { url: answer.url, token: answer.token, sessionId });
}
