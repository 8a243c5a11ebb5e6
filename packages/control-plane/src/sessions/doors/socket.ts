import { AppError, carrierNames, limits, type ErrorCode } from "@vocalhost/protocol";
import { isUsable } from "../../identity/api-keys.ts";
import type { OrganizationId } from "../../identity/principal.ts";
import type { SocketRoute, SocketRouteRequest } from "@vocalhost/base/peers/controller-api";
import { asLeader } from "@vocalhost/store/leadership/leader";
import { notFound } from "@vocalhost/base/refusals";
import type { AgentRow, SessionRow } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";
import type { World } from "../world.ts";
import { preferenceOf } from "../choose-region.ts";
import { expireSession } from "../pending-sessions.ts";
import { START_LIMIT } from "../bind-session.ts";
import { startSession } from "../start-session.ts";
import type { DoorContext, SessionDoor, StartSessionRequest } from "./door.ts";
import { dialOut } from "./dial-out.ts";
import { findForSocket, pendingFor } from "./pending-socket.ts";
import { issueSocketToken, readSocketToken, useUpToken, type SocketToken } from "./socket-tokens.ts";

/** A client's or a carrier's WebSocket: the bot starts when it comes; until then the session is pending. */
export const socketDoor: SessionDoor = {
  names: ["websocket", ...carrierNames],
  completion: "WS_CONNECTION_CLOSED",
  async start(context, request) {
    const { asked, session } = request;
    if (asked.dialout) return dialOut(context, request, asked.dialout);
    const { starter, signer } = context;
    const { world } = starter;
    world.store.requireDiskSpace();
    if (starter.isEnding()) throw new AppError("SHUTTING_DOWN");
    const found = await findForSocket(world, session);
    const { agent, organizationName, websocketAuth } = found;
    const serviceHost = `${agent.name}.${organizationName}`;
    const wsUrl = addressFor(asked, serviceHost);
    const needsToken = websocketAuth === "token";
    const hasBody = session.body !== undefined && session.body !== null;
    if (!needsToken && !hasBody) return { sessionId: null, answer: { wsUrl } };
    const { row } = await pendingFor(world, session, found);
    void wakeAhead(world, agent);
    const { id: sessionId, createdAt } = row;
    const expiresAtMs = createdAt + world.timing.socketTokenMs;
    const token = issueSocketToken(signer, { serviceHost, sessionId, expiresAtMs });
    return {
      sessionId,
      region: row,
      answer: {
        // Without tokens the body still has to find its socket: the address is good for that one alone.
        ...(needsToken ? { wsUrl, token } : { wsUrl: `${wsUrl}/${token}` }),
        ...(asked.transport === "websocket" ? {} : { sessionId }),
      },
    };
  },
};

/** A socket has come: checks it, starts its session, says where it goes. */
export async function routeSocket(
  { starter, signer, instanceToken, queueMs, callbackUrl }: DoorContext,
  request: SocketRouteRequest,
): Promise<SocketRoute> {
  const { world } = starter;
  const token =
    request.token === undefined ? undefined : readSocketToken(signer, request.token, world.clock.nowMs());
  const serviceHost = request.serviceHost || token?.sh || "";
  if (token && token.sh !== serviceHost) throw new AppError("TOKEN_INVALID");
  const [agentName = "", organizationName = "", ...rest] = serviceHost.split(".");
  if (rest.length > 0) throw notFound("Service not found");
  const { agent, websocketAuth } = await findForSocket(world, { organizationName, agentName });
  if (websocketAuth === "token" && !token) throw new AppError("TOKEN_INVALID");
  const body = parseBody(request.body);
  const waiting = token && (await readPending(world, token));
  const pending = waiting?.session;
  const transport = request.ingress === "generic" ? "websocket" : request.ingress;
  if (pending && pending.transport !== transport)
    throw new AppError("TOKEN_INVALID", { message: `The token is for a ${pending.transport} session` });
  const { session, instance } = await startSession(starter, {
    organizationId: agent.organizationId as OrganizationId,
    agentName: agent.name,
    transport,
    connect: { kind: "socket", callbackUrl },
    region: pending && preferenceOf(pending),
    body: body ?? (pending?.body ? (JSON.parse(pending.body) as unknown) : {}),
    apiKeyId: pending?.apiKeyId ?? null,
    concurrency: waiting?.concurrency ?? null,
    queueMs,
    pending,
    beforeBind: token && ((tx) => useUpToken(tx, token)),
  }).catch(async (error: unknown) => {
    if (pending && isRefusal(error)) await giveUp(world, pending);
    throw error;
  });
  if (!instance?.address) throw new AppError("SERVICE_UNAVAILABLE");
  const path = transport === "websocket" ? `/ws-client/${session.id}` : `/ws/${session.id}`;
  return { sessionId: session.id, address: instance.address, token: instanceToken(instance.id), path };
}

/** Names the agent in the path: Twilio drops query strings, and a token can be put behind it. */
function addressFor({ transport, wsBase }: StartSessionRequest, serviceHost: string): string {
  return `${wsBase}/ws/${transport === "websocket" ? "generic" : transport}/${serviceHost}`;
}

/**
 * Returns the session that a token is for. A token is worth no more than the key that requested it: once the key may not do
 * something, neither may the token.
 */
async function readPending(
  { store: { db }, clock }: World,
  { sid }: SocketToken,
): Promise<{ session: SessionRow; concurrency: number | null }> {
  const found = await db
    .selectFrom("sessions")
    .leftJoin("apiKeys", "apiKeys.id", "sessions.apiKeyId")
    .selectAll("sessions")
    .select(["apiKeys.id as keyId", "apiKeys.revokedAt", "apiKeys.expiresAt", "apiKeys.concurrency"])
    .where("sessions.id", "=", sid)
    .executeTakeFirst();
  if (found?.state !== "pending")
    throw new AppError("TOKEN_INVALID", { message: "The session of this token is over" });
  const { keyId, revokedAt, expiresAt, concurrency, ...session } = found;
  const isWorthless = keyId === null || !isUsable({ revokedAt, expiresAt }, clock.nowMs());
  if (session.apiKeyId !== null && isWorthless)
    throw new AppError("TOKEN_INVALID", {
      message: "The key that requested this token is no longer valid",
    });
  return { session, concurrency };
}

// After these the session keeps waiting, since a second try may succeed: another socket has used the token and is in the
// queue, or this controller cannot serve it now.
const MAY_COME_AGAIN: readonly ErrorCode[] = ["TOKEN_INVALID", "SHUTTING_DOWN", "SERVICE_UNAVAILABLE"];

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && !MAY_COME_AGAIN.includes(error.code);
}

/** Frees the place of a refused session at once. Does nothing if its start had begun: the row has changed then. */
async function giveUp(world: World, pending: SessionRow): Promise<void> {
  const nowMs = world.clock.nowMs();
  const expire = (tx: Tx) => expireSession(tx, pending, { reason: "refused", nowMs });
  await asLeader(world, expire, START_LIMIT).catch((error: unknown) =>
    world.log.warn({ err: error, sessionId: pending.id }, "refused session could not be ended"),
  );
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

/**
 * Wakes the instance that a client will get, if it is paused, while the client opens its socket. This only saves time: the
 * start wakes the instance that it finds.
 */
export async function wakeAhead(
  { store, driver, keptAwake, log }: Pick<World, "store" | "driver" | "keptAwake" | "log">,
  agent: Pick<AgentRow, "id">,
): Promise<void> {
  if (keptAwake === undefined) return;
  try {
    const next = await store.db
      .selectFrom("instances")
      .select("id")
      .where("agentId", "=", agent.id)
      .where("state", "=", "ready")
      .where("sessionId", "is", null)
      .orderBy("createdAt") // as they are claimed
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
    if (next) await driver.wake?.(next.id);
  } catch (error) {
    log.debug({ err: error, agentId: agent.id }, "no instance was woken ahead");
  }
}
