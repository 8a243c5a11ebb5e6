import { issueSessionToken } from "../../identity/session-tokens.ts";
import type { SessionRow } from "@vocalhost/store/schema";
import type { DoorContext, DoorRequest } from "./door.ts";

/** A browser's cookie does not go with what the session proxy passes on; whoever brought a key has it. */
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
