import type { IceServer } from "@vocalhost/protocol";
import { startSession } from "../start-session.ts";
import type { SessionDoor } from "./door.ts";
import { sessionTokenFor } from "./session-token.ts";

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
      answer: { sessionId: session.id, ...iceConfig, ...sessionTokenFor(context, request, session) },
    };
  },
};

function plainIceServer({ urls, username, credential }: IceServer): IceServer {
  return { urls, ...(username ? { username } : {}), ...(credential ? { credential } : {}) };
}
