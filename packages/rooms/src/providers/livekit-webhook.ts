import type { LiveKitConfig } from "./livekit.ts";

/** Of LiveKit's ParticipantInfo.Kind, which its server SDK does not export. */
const SIP_KINDS: number[] = [3];

/** A phone call that has come into a room of a LiveKit server. */
export interface SipCall {
  roomName: string;
  identity: string;
  callId: string;
  from: string | null;
  to: string | null;
  attributes: Record<string, string>;
}

/**
 * Reads what a LiveKit server tells its webhook. Undefined for everything that is no phone call coming in; rejects when
 * the signature does not fit the body.
 */
export async function readSipCall(
  { apiKey, apiSecret }: Pick<LiveKitConfig, "apiKey" | "apiSecret">,
  { rawBody, authorization }: { rawBody: string; authorization: string | undefined },
): Promise<SipCall | undefined> {
  const { WebhookReceiver } = await import("livekit-server-sdk");
  const { event, room, participant } = await new WebhookReceiver(apiKey, apiSecret).receive(
    rawBody,
    authorization,
  );
  if (event !== "participant_joined" || !room || !participant) return undefined;
  const { attributes, identity, kind } = participant;
  const callId = attributes["sip.callID"];
  if (!SIP_KINDS.includes(kind) || callId === undefined) return undefined;
  return {
    roomName: room.name,
    identity,
    callId,
    from: attributes["sip.phoneNumber"] ?? null,
    to: attributes["sip.trunkPhoneNumber"] ?? null,
    attributes: { ...attributes },
  };
}
