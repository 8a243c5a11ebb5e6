import { AppError, isCarrier, type IceServer } from "@vocalhost/protocol";
import { createHash } from "node:crypto";
import { findAgent } from "../agents/find-agent.ts";
import { readOrganizationName } from "../agents/read-agents.ts";
import type { StartOutcome, StartSessionRequest, StopSessionRequest } from "../api/ports.ts";
import { requireAgentAllowed } from "../auth/rate-limits.ts";
import type { Admit, Principal } from "../auth/principal.ts";
import { issueSessionToken, type SessionTokenSigner } from "../auth/session-tokens.ts";
import type { InstanceRoute, SessionRouteRequest } from "../gateway/controller-api.ts";
import { isTerminal } from "../sessions/session-state.ts";
import type { SocketSessions } from "../sessions/socket-sessions.ts";
import { startSession, type SessionWish, type Starter } from "../sessions/start-session.ts";
import { stopSession } from "../sessions/stop-session.ts";

/** The ways in: what the REST interface and the gateway ask of sessions. All start through `startSession`. */
export interface SessionDoors {
  start(request: StartSessionRequest): Promise<StartOutcome>;
  stop(request: StopSessionRequest): Promise<void>;
  /** May this caller reach this session, and where is it? */
  route(request: SessionRouteRequest): Promise<InstanceRoute>;
}

export interface SessionDoorsOptions {
  starter: Starter;
  sockets: SocketSessions;
  admit: Admit;
  iceServers: IceServer[];
  queueMs: number;
  instanceToken(instanceId: string): string;
  signer: SessionTokenSigner;
}

const LOOK_AGAIN_MS = 500;

export function createSessionDoors(options: SessionDoorsOptions): SessionDoors {
  const { starter, sockets, iceServers } = options;
  const { world } = starter;
  return {
    async start(request) {
      const { principal, transport } = request;
      const wish = {
        organizationId: principal.organizationId,
        agentName: request.agentName,
        body: request.body,
        apiKeyId: principal.kind === "key" ? principal.keyId : null,
        concurrency: principal.kind === "key" ? principal.concurrency : null,
        iceServers: iceServers.map(plainIceServer),
        queueMs: options.queueMs,
        idempotency: idempotencyOf(request),
      };
      if (transport === "websocket" || isCarrier(transport)) {
        const organizationName = await readOrganizationName(world.store.db, principal.organizationId);
        const prepared = await sockets.prepare({
          ...wish,
          transport,
          organizationName,
          socketBase: request.wsBase,
        });
        const { sessionId, ...answer } = prepared;
        return { sessionId: sessionId ?? null, answer };
      }
      const { session } = await startSession(starter, { ...wish, transport });
      const iceConfig = request.enableDefaultIceServers ? { iceConfig: { iceServers } } : {};
      world.failpoint("active.replied.before");
      return {
        sessionId: session.id,
        answer: { sessionId: session.id, ...iceConfig, ...tokenFor(principal, session) },
      };
    },

    async stop({ organizationId, agentName, sessionId, actor }) {
      const agent = await findAgent(world.store.db, organizationId, agentOf(agentName));
      await stopSession(world, { organizationId, agentId: agent.id, sessionId, actor });
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
      const agent = await findAgent(world.store.db, organizationId, agentOf(agentName));
      const untilMs = world.clock.monotonicMs() + world.timing.startColdMs;
      for (;;) {
        const session = await world.store.db
          .selectFrom("sessions")
          .innerJoin("instances", "instances.id", "sessions.instanceId")
          .select(["sessions.id", "sessions.state", "instances.address", "instances.id as instanceId"])
          .where("sessions.id", "=", sessionId)
          .where("sessions.organizationId", "=", organizationId)
          .where("sessions.agentId", "=", agent.id)
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
  };

  /** A browser's cookie does not go with what the session proxy passes on; whoever brought a key has it. */
  function tokenFor(
    principal: Principal,
    session: { id: string; maxDurationMs: number },
  ): { sessionToken?: string } {
    if (principal.kind !== "user") return {};
    const { userId, organizationId } = principal;
    const expiresAt = Math.ceil((world.clock.nowMs() + session.maxDurationMs) / 1000);
    return {
      sessionToken: issueSessionToken(options.signer, {
        sessionId: session.id,
        organizationId,
        userId,
        expiresAt,
      }),
    };
  }
}

// Sessions of one that is being deleted can still be reached and stopped.
function agentOf(name: string): { name: string; message: string } {
  return { name, message: "Service not found" };
}

function idempotencyOf({
  idempotencyKey,
  agentName,
  transport,
  body,
}: StartSessionRequest): SessionWish["idempotency"] {
  if (idempotencyKey === undefined) return undefined;
  const parameters = JSON.stringify([agentName, transport, body ?? null]);
  return { key: idempotencyKey, parametersHash: createHash("sha256").update(parameters).digest("hex") };
}

function plainIceServer({ urls, username, credential }: IceServer): SessionWish["iceServers"][number] {
  return { urls, ...(username ? { username } : {}), ...(credential ? { credential } : {}) };
}
