import { DataPacket, DataPacket_Kind, RpcRequest, type PerformRpcRequest } from "@livekit/protocol";
import { randomUUID } from "node:crypto";
import type { Participant } from "./participant.ts";
import type { Room } from "./room.ts";
import { ServiceError } from "./service-error.ts";

/** A call of the room service that a participant is to answer. */
export interface RemoteCall {
  acknowledge(): void;
  answer(payload: string): void;
  fail(error: ServiceError): void;
}

// As LiveKit has them.
const ACKNOWLEDGE_MS = 2_000;
const ANSWER_MS = 10_000;
const ANSWER_MAX_MS = 60_000;
const PAYLOAD_MAX_BYTES = 15_360;
const WAITING_MAX = 100; // for one participant

/** Resolves with what the participant's method answers. Rejects with a {@link ServiceError}. */
export async function callParticipant(
  room: Room,
  { participant, request }: { participant: Participant; request: PerformRpcRequest },
): Promise<string> {
  const { method, payload } = request;
  if (Buffer.byteLength(payload) > PAYLOAD_MAX_BYTES)
    throw new ServiceError("malformed", `Request payload too large: at most ${PAYLOAD_MAX_BYTES} bytes`);
  if (participant.calls.size >= WAITING_MAX)
    throw new ServiceError("resource_exhausted", `${WAITING_MAX} calls already wait for this participant`);
  const id = randomUUID();
  const responseTimeoutMs = Math.min(request.responseTimeoutMs || ANSWER_MS, ANSWER_MAX_MS);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const late = (message: string) => () => reject(new ServiceError("canceled", message));
  const acknowledging = setTimeout(late("Connection timeout"), ACKNOWLEDGE_MS);
  const answering = setTimeout(late("Response timeout"), responseTimeoutMs);
  participant.calls.set(id, {
    acknowledge: () => clearTimeout(acknowledging),
    answer: resolve,
    fail: reject,
  });
  const packet = new DataPacket({
    kind: DataPacket_Kind.RELIABLE,
    participantIdentity: id, // clients answer whom they take for the caller
    destinationIdentities: [participant.identity],
    value: {
      case: "rpcRequest",
      value: new RpcRequest({ id, method, payload, responseTimeoutMs, version: 1 }),
    },
  });
  room.media({ type: "send-data", peers: [participant.sid], kind: "reliable", bytes: packet.toBinary() });
  try {
    return await promise;
  } finally {
    clearTimeout(acknowledging);
    clearTimeout(answering);
    participant.calls.delete(id);
  }
}

/** Whether the packet belonged to a call of the room service, which is told. */
export function takeReply({ calls }: Participant, packet: DataPacket): boolean {
  const { case: kind, value } = packet.value;
  if (kind !== "rpcAck" && kind !== "rpcResponse") return false;
  const call = calls.get(value.requestId);
  if (!call) return false;
  call.acknowledge();
  if (kind === "rpcAck") return true;
  if (value.value.case === "payload") call.answer(value.value.value);
  else if (value.value.case === "error") call.fail(toServiceError(value.value.value));
  else call.fail(new ServiceError("internal", "The participant answered in a way that was not asked for"));
  return true;
}

const UNSUPPORTED_METHOD = 1400;

function toServiceError({ code, message }: { code: number; message: string }): ServiceError {
  return new ServiceError(
    code === UNSUPPORTED_METHOD ? "invalid_argument" : "internal",
    `${message} (${code})`,
  );
}
