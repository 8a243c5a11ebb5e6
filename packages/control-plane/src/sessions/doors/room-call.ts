import { AppError, type RoomStarted } from "@vocalhost/protocol";
import { createHash } from "node:crypto";
import { findLiveAgents } from "../../agents/find-agent.ts";
import type { OrganizationId } from "../../identity/principal.ts";
import { startSession } from "../start-session.ts";
import { closeUnlessUsed, findHeldCall } from "../session-rooms.ts";
import type { DoorContext, ReadyRoom, ToldCall } from "./door.ts";

/** A provider tells of a phone call for this agent. */
export interface CallRequest extends ToldCall {
  organizationName: string;
  agentName: string;
}

/** Sends a bot into the room of a call that came in; undefined if the request was no call. A repeated delivery starts nothing. */
export async function startCall(
  context: DoorContext,
  { organizationName, agentName, ...told }: CallRequest,
): Promise<RoomStarted | undefined> {
  const { starter, rooms } = context;
  const { world } = starter;
  // Before anything is looked up, so that untrusted callers learn nothing.
  const ready = await rooms.readReady(told);
  if (ready) return forwardHeldCall(context, ready);
  const call = await rooms.readCall(told);
  if (!call) return undefined;
  const organizationId = await organizationNamed(context, organizationName);
  await findLiveAgents(world.store.db, organizationId, agentName);
  const mark = createHash("sha256").update(call.callId).digest("hex").slice(0, 32);
  const room = await call.open(mark);
  try {
    const { session, isRepeated } = await startSession(starter, {
      organizationId,
      agentName,
      transport: "room",
      connect: room.connect,
      body: call.body,
      apiKeyId: null,
      concurrency: null,
      queueMs: context.queueMs,
      idempotency: { key: `call:${call.callId}`, parametersHash: mark },
    });
    if (!isRepeated) await room.forwardCall?.();
    return room.answer(session.id);
  } catch (error) {
    await closeUnlessUsed(world, room);
    throw error;
  }
}

/** Daily reports every room of the account, including rooms that are over or are not ours. */
async function forwardHeldCall(
  { starter: { world }, rooms }: DoorContext,
  { roomName, sipUri }: ReadyRoom,
): Promise<undefined> {
  const call = await findHeldCall(world.store.db, roomName);
  if (call) await rooms.forwardCall({ ...call, sipUri });
}

async function organizationNamed({ starter: { world } }: DoorContext, name: string): Promise<OrganizationId> {
  const organization = await world.store.db
    .selectFrom("organizations")
    .select("id")
    .where("name", "=", name)
    .executeTakeFirst();
  if (!organization) throw new AppError("NOT_FOUND", { message: "Service not found" });
  return organization.id as OrganizationId;
}
