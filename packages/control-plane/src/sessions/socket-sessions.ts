import { AppError, limits, type CarrierName } from "@vocalhost/protocol";
import { DeploymentSpec } from "../agents/deployment-spec.ts";
import { findLiveAgent } from "../agents/find-agent.ts";
import type { OrganizationId } from "../auth/principal.ts";
import type { SocketRoute, SocketRouteRequest } from "../gateway/controller-api.ts";
import { asLeader } from "../leader/leader.ts";
import type { AgentRow, SessionRow } from "../store/schema.ts";
import type { World } from "../world.ts";
import { earlierSession, rememberKey } from "./idempotency.ts";
import { newSessionRow } from "./session-row.ts";
import { issueSocketToken, readSocketToken, useUpToken, type TokenSigner } from "./socket-tokens.ts";
import {
  activeDeployment,
  checkConcurrency,
  requireDiskSpace,
  startSession,
  type SessionWish,
  type Starter,
} from "./start-session.ts";

export interface SocketSessions {
  /** A session whose bot starts when its socket comes: where to connect, and with what. */
  prepare(wish: SocketWish): Promise<PreparedSocket>;
  /** A socket has come: checks it, starts its session, says where it goes. */
  route(request: SocketRouteRequest): Promise<SocketRoute>;
}

export interface SocketWish extends Omit<SessionWish, "transport"> {
  transport: "websocket" | CarrierName;
  organizationName: string;
  /** `wss://host` under which sockets reach the gateway. */
  socketBase: string;
}

export interface PreparedSocket {
  wsUrl: string;
  /** Absent for agents that take sockets without one. */
  token?: string;
  sessionId?: string;
}

export interface SocketSessionsOptions {
  starter: Starter;
  signer: TokenSigner;
  instanceToken(instanceId: string): string;
  /** How long a socket waits for room. */
  queueMs: number;
}

export function createSocketSessions({
  starter,
  signer,
  instanceToken,
  queueMs,
}: SocketSessionsOptions): SocketSessions {
  const { world } = starter;
  return {
    async prepare(wish) {
      requireDiskSpace(world);
      if (starter.isEnding()) throw new AppError("SHUTTING_DOWN");
      const agent = await findLiveAgent(world.store.db, wish.organizationId, wish.agentName);
      const { websocketAuth } = await specOf(world, agent);
      const serviceHost = `${agent.name}.${wish.organizationName}`;
      const wsUrl = addressFor(wish, serviceHost);
      if (websocketAuth === "none") {
        if (wish.body === undefined || wish.body === null) return { wsUrl };
        throw new AppError("GENERIC_BAD_REQUEST", {
          message:
            "This agent takes WebSockets without a token, so a start body cannot be kept for one. " +
            "Encode it as base64 and add it to the address: ?body=…",
        });
      }
      const { id: sessionId, createdAt } = await pendingFor(world, wish, agent);
      const expiresAtMs = createdAt + world.timing.socketTokenMs;
      return { wsUrl, token: issueSocketToken(signer, { serviceHost, sessionId, expiresAtMs }), sessionId };
    },

    async route(request) {
      const token =
        request.token === undefined ? undefined : readSocketToken(signer, request.token, world.clock.nowMs());
      const serviceHost = request.serviceHost || token?.sh || "";
      if (token && token.sh !== serviceHost) throw new AppError("TOKEN_INVALID");
      const { organizationId, agent } = await findByHost(world, serviceHost);
      const { websocketAuth } = await specOf(world, agent);
      if (websocketAuth === "token" && !token) throw new AppError("TOKEN_INVALID");
      const body = parseBody(request.body);
      if (token) await useUpToken(world.store, token); // before anything is claimed
      const pending = token ? await pendingSession(world, token.sid) : undefined;
      const transport = request.ingress === "generic" ? "websocket" : request.ingress;
      if (pending && pending.transport !== transport)
        throw new AppError("TOKEN_INVALID", { message: `The token is for a ${pending.transport} session` });
      const { session, instance } = await startSession(starter, {
        organizationId,
        agentName: agent.name,
        transport,
        body: body ?? (pending?.body ? (JSON.parse(pending.body) as unknown) : {}),
        apiKeyId: pending?.apiKeyId ?? null,
        concurrency: await concurrencyOf(world, pending?.apiKeyId ?? null),
        iceServers: [],
        queueMs,
        pendingSessionId: pending?.id,
      });
      if (!instance?.address) throw new AppError("SERVICE_UNAVAILABLE");
      const path = transport === "websocket" ? `/ws-client/${session.id}` : `/ws/${session.id}`;
      return { sessionId: session.id, address: instance.address, token: instanceToken(instance.id), path };
    },
  };
}

/** A new session that waits for its socket, or the one an earlier request with the same key has made. */
async function pendingFor(world: World, wish: SocketWish, agent: AgentRow): Promise<SessionRow> {
  return asLeader(world, async (tx) => {
    const earlier = await earlierSession(tx, wish);
    if (earlier) return earlier;
    await checkConcurrency(tx, wish); // and again when the socket comes
    const nowMs = world.clock.nowMs();
    const session = {
      ...newSessionRow({ wish, agent, sessionId: world.newId(), nowMs }),
      body: JSON.stringify(wish.body ?? {}),
    };
    await tx.insertInto("sessions").values(session).execute();
    await rememberKey(tx, wish, session.id, nowMs);
    return session;
  });
}

function addressFor({ transport, socketBase }: SocketWish, serviceHost: string): string {
  if (transport === "websocket") return `${socketBase}/ws/generic/${serviceHost}`;
  // Twilio drops query strings; its token names the agent, or a parameter of the stream does.
  if (transport === "twilio") return `${socketBase}/ws/twilio`;
  return `${socketBase}/ws/${transport}?serviceHost=${serviceHost}`;
}

async function findByHost(
  world: World,
  serviceHost: string,
): Promise<{ organizationId: OrganizationId; agent: AgentRow }> {
  const [agentName = "", organizationName = "", ...rest] = serviceHost.split(".");
  const organization =
    rest.length > 0
      ? undefined
      : await world.store.db
          .selectFrom("organizations")
          .select("id")
          .where("name", "=", organizationName)
          .executeTakeFirst();
  if (!organization) throw new AppError("NOT_FOUND", { message: "Service not found" });
  const organizationId = organization.id as OrganizationId;
  return { organizationId, agent: await findLiveAgent(world.store.db, organizationId, agentName) };
}

async function specOf(world: World, agent: AgentRow): Promise<DeploymentSpec> {
  const { spec } = await activeDeployment(world.store.db, agent);
  return DeploymentSpec.parse(JSON.parse(spec));
}

async function pendingSession(world: World, id: string) {
  const session = await world.store.db
    .selectFrom("sessions")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  if (session?.state === "pending") return session;
  throw new AppError("TOKEN_INVALID", { message: "The session of this token is over" });
}

async function concurrencyOf(world: World, apiKeyId: string | null): Promise<number | null> {
  if (apiKeyId === null) return null;
  const key = await world.store.db
    .selectFrom("apiKeys")
    .select("concurrency")
    .where("id", "=", apiKeyId)
    .executeTakeFirst();
  return key?.concurrency ?? null;
}

function parseBody(base64: string | undefined): unknown {
  if (base64 === undefined) return undefined;
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length > limits.websocketStartBodyBytes) throw new AppError("PAYLOAD_TOO_LARGE");
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch (cause) {
    throw new AppError("GENERIC_BAD_REQUEST", { message: "?body= must be base64 of JSON", cause });
  }
}
