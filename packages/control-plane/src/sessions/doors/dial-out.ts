import { AppError, isCarrier, placeCall, type CarrierName, type Dialout } from "@vocalhost/protocol";
import { writeAudit } from "../../identity/audit.ts";
import { actorOf, type Principal } from "../../identity/principal.ts";
import { asLeader } from "@vocalhost/store/leadership/leader";
import type { SessionRow } from "@vocalhost/store/schema";
import type { World } from "../world.ts";
import { expireSession } from "../pending-sessions.ts";
import type { DoorContext, DoorRequest, SessionDialling, StartOutcome } from "./door.ts";
import { findForSocket, pendingFor } from "./pending-socket.ts";
import { issueSocketToken } from "./socket-tokens.ts";

/**
 * Has a carrier place a call, with the account that the agent's secrets name. The session is pending until the call is
 * answered and the carrier's stream comes with the token. A start that is repeated under the same key places no second call.
 */
export async function dialOut(
  context: DoorContext,
  request: DoorRequest,
  dialout: Dialout,
): Promise<StartOutcome> {
  const { starter, signer, dialling } = context;
  const { world } = starter;
  requirePayer(dialling, request.asked.principal);
  world.store.requireDiskSpace();
  if (starter.isEnding()) throw new AppError("SHUTTING_DOWN");
  const { asked, session } = request;
  const carrier = carrierOf(asked.transport);
  const found = await findForSocket(world, session);
  const { agent, organizationName, spec } = found;
  const accounts = await dialling.accountsOf(session.organizationId, spec);
  const { row, isRepeated } = await pendingFor(world, session, found);
  const answer = { sessionId: row.id, status: "dialling" as const };
  if (isRepeated) return { sessionId: row.id, region: row, answer };
  const token = issueSocketToken(signer, {
    serviceHost: `${agent.name}.${organizationName}`,
    sessionId: row.id,
    expiresAtMs: row.createdAt + world.timing.socketTokenMs,
  });
  try {
    await noteCall(world, request, row);
    const { callId } = await placeCall(carrier, accounts, {
      ...dialout,
      streamUrl: `${asked.wsBase}/ws/${carrier}/${token}`,
      answerUrl: `${asked.wsBase.replace(/^ws/, "http")}/v1/public/calls/answer/${carrier}?token=${token}`,
    });
    return { sessionId: row.id, region: row, answer: { ...answer, ...(callId ? { callId } : {}) } };
  } catch (error) {
    const nowMs = world.clock.nowMs();
    await asLeader(world, (tx) => expireSession(tx, row, { reason: "call-refused", nowMs })); // no one was called
    throw error;
  }
}

/** Calls cost money, and a public key is in every visitor's browser. */
export function requirePayer({ takesPublicKeys }: SessionDialling, principal: Principal): void {
  if (principal.kind !== "key" || principal.keyKind === "private" || takesPublicKeys) return;
  throw new AppError("DIALOUT_NOT_ALLOWED", {
    message:
      "Calls cost money, so a public key may not place them: use a private key with POST /v1/agents/{agent}/dialout",
  });
}

function carrierOf(transport: string): CarrierName {
  if (isCarrier(transport)) return transport;
  throw new AppError("TRANSPORT_UNKNOWN", { message: `${transport} is no carrier` });
}

async function noteCall(world: World, { asked, session }: DoorRequest, row: SessionRow): Promise<void> {
  await asLeader(world, (tx) =>
    writeAudit(tx, {
      organizationId: session.organizationId,
      at: world.clock.nowMs(),
      actor: actorOf(asked.principal),
      action: "call-placed",
      target: `session:${row.id}`,
    }),
  );
}
