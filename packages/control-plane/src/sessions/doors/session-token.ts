import { issueSessionToken } from "../../identity/session-tokens.ts";
import type { SessionRow } from "@vocalhost/store/schema";
import type { DoorContext, DoorRequest } from "./door.ts";

/** The session proxy passes no cookies on, so a signed-in browser gets a token. A client with a key needs none. */
export function sessionTokenFor(
  { starter: { world }, signer }: DoorContext,
  { asked: { principal } }: DoorRequest,
  session: Pick<SessionRow, "id" | "maxDurationMs">,
): { sessionToken?: string } {
  if (principal.kind !== "user") return {};
  const { userId, organizationId } = principal;
  const expiresAt = Math.ceil((world.clock.nowMs() + session.maxDurationMs) / 1000);
  return {
    sessionToken: issueSessionToken(signer, { sessionId: session.id, organizationId, userId, expiresAt }),
  };
}
