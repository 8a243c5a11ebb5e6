import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { AccessToken } from "livekit-server-sdk";
import { eventually } from "../../../testing/wait.ts";
import { joinFromNode, type NodeAttendee } from "./node-attendee.ts";
import type { RoomTarget } from "./room-target.ts";

/** A participant as LiveKit's SIP service brings callers into a room: by their kind and attributes a phone call. */
export interface SipCaller extends NodeAttendee {
  readonly callId: string;
  readonly attributes: Record<string, string>;
}

export const SIP_IDENTITY = "sip_+15557770000";

export async function joinAsCaller(
  context: TestContext,
  target: RoomTarget,
  room: string,
): Promise<SipCaller> {
  const callId = randomUUID();
  const attributes = {
    "sip.callID": callId,
    "sip.phoneNumber": "+15557770000",
    "sip.trunkPhoneNumber": "+15551230000",
    "sip.callStatus": "active",
  };
  const token = new AccessToken(target.apiKey, target.apiSecret, { identity: SIP_IDENTITY, attributes });
  token.addGrant({ roomJoin: true, room });
  token.kind = "sip";
  const joined = { url: target.url, token: await token.toJwt(), identity: "caller", toneHz: 440 };
  const caller = await joinFromNode(joined);
  context.after(() => caller.leave());
  await caller.speak();
  return { ...caller, callId, attributes };
}

/** The arguments of a probe bot. */
export interface ProbedCall {
  sessionId: string;
  body: unknown;
  callData: { callId: string; from: string; to: string; body: unknown } | null;
  ended: unknown;
}

export async function callsOf(runnerUrl: string): Promise<ProbedCall[]> {
  return (await (await fetch(`${runnerUrl}/calls`)).json()) as ProbedCall[];
}

export async function calledBy(runnerUrl: string, callId: string): Promise<ProbedCall> {
  const found = await eventually({
    what: "the bot is called",
    look: async () => (await callsOf(runnerUrl)).find(({ callData }) => callData?.callId === callId),
    until: (call) => call !== undefined,
  });
  if (!found) throw new Error("no call");
  return found;
}
