import { startSession } from "../start-session.ts";
import type { SessionDoor } from "./door.ts";
import { sessionTokenFor } from "./session-token.ts";

/** The bot starts at once; a browser's offer then finds it through the session proxy. */
export const webrtcDoor: SessionDoor = {
  names: ["webrtc"],
  completion: "HTTP_COMPLETED",
  async start(context, request) {
    const { starter, iceServersOf } = context;
    const { session } = await startSession(starter, {
      ...request.session,
      connect: (starting) => ({ kind: "webrtc", iceServers: iceServersOf(starting) }),
    });
    const iceConfig = request.asked.enableDefaultIceServers
      ? { iceConfig: { iceServers: iceServersOf(session) } }
      : {};
    starter.world.failpoint("active.replied.before");
    return {
      sessionId: session.id,
      region: session,
      answer: { sessionId: session.id, ...iceConfig, ...sessionTokenFor(context, request, session) },
    };
  },
};
