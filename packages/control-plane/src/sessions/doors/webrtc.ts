import type { IceServer } from "@vocalhost/protocol";
import { issueSessionToken } from "../../auth/session-tokens.ts";
import type { SessionRow } from "../../store/schema.ts";
import { startSession } from "../start-session.ts";
import type { DoorContext, DoorRequest, SessionDoor } from "./door.ts";

/** The bot starts at once; a browser's offer then finds it through the session proxy. */
export const webrtcDoor: SessionDoor = {
  names: ["webrtc"],
  completion: "HTTP_COMPLETED",
  async start(context, request) {
    const { starter, iceServers } = context;
    const connect = { kind: "webrtc" as const, iceServers: iceServers.map(plainIceServer) };
    const { session } = await startSession(starter, { ...request.session, connect });
    const iceConfig = request.asked.enableDefaultIceServers ? { iceConfig: { iceServers } } : {};
    starter.world.failpoint("active.replied.before");
    return {
      sessionId: session.id,
      answer: { sessionId: session.id, ...iceConfig, ...tokenFor(context, request, session) },
    };
  },
};

/** A browser's cookie does not go with what the session proxy passes on; whoever brought a key has it. */
function tokenFor(
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

function plainIceServer({ urls, username, credential }: IceServer): IceServer {
  return { urls, ...(username ? { username } : {}), ...(credential ? { credential } : {}) };
}
