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
import type { SessionRequest, Starter } from "../start-session.ts";
import { stopSession } from "../stop-session.ts";
import type { DoorContext, StartOutcome, StartSessionRequest } from "./door.ts";
import { doorOf } from "./doors.ts";
import { startCall, type CallRequest } from "./room-call.ts";
import { routeSocket } from "./socket.ts";

/** Sessions as the REST interface and the gateway see them. */
export interface SessionDoors {
  start(request: StartSessionRequest): Promise<StartOutcome>;
  /** Takes a phone call that a provider of rooms reports; undefined if the report was of no call. */
  takeCall(request: CallRequest): Promise<RoomStarted | undefined>;
  stop(request: StopSessionRequest): Promise<void>;
  /** Returns where a session is, if the caller may reach it. */
  route(request: SessionRouteRequest): Promise<InstanceRoute>;
  /** Checks a socket that has come, starts its session and returns where it goes. */
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
      const agentIds = await agentIdsOf(starter, organizationId, agentName);
      await stopSession(starter.world, { organizationId, agentIds, sessionId, actor });
      starter.nudge();
    },
    route: (request) => routeSession(options, request),
    routeSocket: (request) => routeSocket(options, request),
  };
}

async function routeSession(
  { starter, admit, instanceToken }: SessionDoorsOptions,
  { agent: agentName, sessionId, authorization }: SessionRouteRequest,
): Promise<InstanceRoute> {
  const { store, clock, timing } = starter.world;
  const principal = await admit({ authorization, cookie: undefined, organizationName: undefined }, "session");
  requireAgentAllowed(principal, agentName);
  if (principal.kind === "session" && principal.sessionId !== sessionId)
    throw new AppError("NOT_FOUND", { message: "Service not found" });
  const { organizationId } = principal;
  const agentIds = await agentIdsOf(starter, organizationId, agentName);
  const untilMs = clock.monotonicMs() + timing.startColdMs;
  for (;;) {
    const session = await store.db
      .selectFrom("sessions")
      .innerJoin("instances", "instances.id", "sessions.instanceId")
      .select(["sessions.id", "sessions.state", "instances.address", "instances.id as instanceId"])
      .where("sessions.id", "=", sessionId)
      .where("sessions.organizationId", "=", organizationId)
      .where("sessions.agentId", "in", agentIds)
      .executeTakeFirst();
    if (!session || isTerminal(session.state))
      throw new AppError("NOT_FOUND", { message: "Service not found" });
    const { id, state, address, instanceId } = session;
    if (state !== "starting" && address !== null)
      return { sessionId: id, address, token: instanceToken(instanceId) };
    if (clock.monotonicMs() > untilMs) throw new AppError("AGENT-1001");
    await starter.wakeups.wait(sessionId, LOOK_AGAIN_MS); // the bot is still initialising
  }
}

/** In all regions, and while the agent is being deleted: its sessions can still be reached and stopped. */
async function agentIdsOf(
  { world }: Starter,
  organizationId: OrganizationId,
  name: string,
): Promise<string[]> {
  const agents = await findAgents(world.store.db, organizationId, { name, message: "Service not found" });
  return agents.map(({ id }) => id);
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
