import { AppError, type RoomStarted } from "@vocalhost/protocol";
import { createHash } from "node:crypto";
import { findAgents } from "../../agents/find-agent.ts";
import type { Admit, OrganizationId } from "../../identity/principal.ts";
import { requireAgentAllowed } from "../../identity/rate-limits.ts";
import type {
  InstanceRoute,
  SessionRouteRequest,
  SocketRoute,
  SocketRouteRequest,
} from "@vocalhost/base/peers/controller-api";
import { callerOf } from "../pending-sessions.ts";
import { isTerminal } from "../session-state.ts";
import type { SessionRequest } from "../start-session.ts";
import { stopSession } from "../stop-session.ts";
import type { DoorContext, StartOutcome, StartSessionRequest } from "./door.ts";
import { doorOf } from "./doors.ts";
import { startCall, type CallRequest } from "./room-call.ts";
import { routeSocket } from "./socket.ts";

/** What the REST interface and the gateway ask of sessions. */
export interface SessionDoors {
  start(request: StartSessionRequest): Promise<StartOutcome>;
  /** A provider of rooms tells of a phone call; undefined when it was none. */
  takeCall(request: CallRequest): Promise<RoomStarted | undefined>;
  stop(request: StopSessionRequest): Promise<void>;
  /** May this caller reach this session, and where is it? */
  route(request: SessionRouteRequest): Promise<InstanceRoute>;
  /** A socket has come: checks it, starts its session, says where it goes. */
  routeSocket(request: SocketRouteRequest): Promise<SocketRoute>;
}

export interface StopSessionRequest {
  organizationId: OrganizationId;
  agentName: string;
  sessionId: string;
  actor: string;
}

export interface SessionDoorsOptions extends DoorContext {
  admit: Admit;
}

const LOOK_AGAIN_MS = 500;

export function createSessionDoors(options: SessionDoorsOptions): SessionDoors {
  const { starter } = options;
  const { world } = starter;

  // In whichever region. Sessions of one that is being deleted can still be reached and stopped.
  async function agentIdsOf(organizationId: OrganizationId, name: string): Promise<string[]> {
    const agents = await findAgents(world.store.db, organizationId, { name, message: "Service not found" });
    return agents.map(({ id }) => id);
  }

  return {
    async start(asked) {
      const { principal, agentName, transport, body } = asked;
      return doorOf(transport).start(options, {
        asked,
        session: {
          organizationId: principal.organizationId,
          agentName,
          transport,
          body,
          region: asked.region,
          apiKeyId: principal.kind === "key" ? principal.keyId : null,
          caller: callerOf(principal, asked.address),
          concurrency: principal.kind === "key" ? principal.concurrency : null,
          queueMs: options.queueMs,
          idempotency: idempotencyOf(asked),
        },
      });
    },

    takeCall: (request) => startCall(options, request),

    async stop({ organizationId, agentName, sessionId, actor }) {
      const agentIds = await agentIdsOf(organizationId, agentName);
      await stopSession(world, { organizationId, agentIds, sessionId, actor });
      starter.nudge();
    },

    async route({ agent: agentName, sessionId, authorization }) {
      const principal = await options.admit(
        { authorization, cookie: undefined, organizationName: undefined },
        "session",
      );
      requireAgentAllowed(principal, agentName);
      if (principal.kind === "session" && principal.sessionId !== sessionId)
        throw new AppError("NOT_FOUND", { message: "Service not found" });
      const { organizationId } = principal;
      const agentIds = await agentIdsOf(organizationId, agentName);
      const untilMs = world.clock.monotonicMs() + world.timing.startColdMs;
      for (;;) {
        const session = await world.store.db
          .selectFrom("sessions")
          .innerJoin("instances", "instances.id", "sessions.instanceId")
          .select(["sessions.id", "sessions.state", "instances.address", "instances.id as instanceId"])
          .where("sessions.id", "=", sessionId)
          .where("sessions.organizationId", "=", organizationId)
          .where("sessions.agentId", "in", agentIds)
          .executeTakeFirst();
        if (!session || isTerminal(session.state))
          throw new AppError("NOT_FOUND", { message: "Service not found" });
        if (session.state !== "starting" && session.address !== null)
          return {
            sessionId: session.id,
            address: session.address,
            token: options.instanceToken(session.instanceId),
          };
        if (world.clock.monotonicMs() > untilMs) throw new AppError("AGENT-1001");
        await starter.wakeups.wait(sessionId, LOOK_AGAIN_MS); // the bot is still initialising
      }
    },

    routeSocket: (request) => routeSocket(options, request),
  };
}

function idempotencyOf({
  idempotencyKey,
  agentName,
  transport,
  body,
  room,
  region,
  dialout,
}: StartSessionRequest): SessionRequest["idempotency"] {
  if (idempotencyKey === undefined) return undefined;
  const parameters = JSON.stringify([
    ...[agentName, transport, body ?? null],
    ...(room.token === undefined ? [] : [room.token]),
    ...(dialout === undefined ? [] : [dialout]),
    ...(region.asked === null && !region.stays ? [] : [region]),
  ]);
  return { key: idempotencyKey, parametersHash: createHash("sha256").update(parameters).digest("hex") };
}
