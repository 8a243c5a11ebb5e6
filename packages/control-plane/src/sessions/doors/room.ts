import { AppError } from "@vocalhost/protocol";
import { createHmac } from "node:crypto";
import { findLiveAgents } from "../../agents/find-agent.ts";
import { closeUnlessUsed } from "../session-rooms.ts";
import { startSession } from "../start-session.ts";
import type { DoorRequest, SessionDoor } from "./door.ts";
import { sessionTokenFor } from "./session-token.ts";

/** Bot and client meet in a room, so nothing of the client comes through us but its start. */
export const roomDoor: SessionDoor = {
  names: ["room"],
  completion: "HTTP_COMPLETED",
  async start(context, request) {
    const { asked } = request;
    // The provider is checked first; a room that is joined brings its own.
    if (asked.room.token === undefined) await context.rooms.require(asked.room.requested);
    refuseCosts(request);
    const { organizationId, agentName } = request.session;
    const agents = await findLiveAgents(context.starter.world.store.db, organizationId, agentName);
    // First the room: a provider that refuses must not cost an instance.
    const room = await context.rooms.make({
      ...asked.room,
      prefix: "vocalhost",
      regions: agents.map(({ region }) => region),
      mark: markOf(context.signer.secret, request),
      reachedAs: asked.wsBase,
    });
    try {
      const { starter } = context;
      const { session } = await startSession(starter, {
        ...request.session,
        connect: ({ region }) => room.connectIn(region ?? ""),
      });
      starter.world.failpoint("active.replied.before");
      return {
        sessionId: session.id,
        region: session,
        answer: { ...room.answer(session.id), ...sessionTokenFor(context, request, session) },
      };
    } catch (error) {
      await closeUnlessUsed(context.starter.world, room);
      throw error;
    }
  },
};

/** A start that is repeated under the same key gets the same room. */
function markOf(secret: string, { asked, session }: DoorRequest): string | undefined {
  if (asked.idempotencyKey === undefined) return undefined;
  const words = JSON.stringify([session.organizationId, asked.agentName, asked.idempotencyKey]);
  return createHmac("sha256", secret).update(`room:${words}`).digest("hex").slice(0, 32);
}

const COSTLY = [
  ...["enable_recording", "start_cloud_recording", "recordings_bucket", "transcription_bucket"],
  ...["enable_transcription_storage", "enable_dialout"],
];

/** A public key is in every visitor's browser: it must not run up the operator's account at the provider. */
function refuseCosts({ asked: { principal, room } }: DoorRequest): void {
  if (principal.kind !== "key" || principal.keyKind !== "public") return;
  const wanted = [room.roomProperties, room.tokenProperties].flatMap((each) => Object.keys(each ?? {}));
  const costly = wanted.find((name) => COSTLY.includes(name));
  if (costly)
    throw new AppError("ACCESS_DENIED", {
      message: `A public key may not ask for '${costly}': set it for your domain at the provider`,
    });
}
