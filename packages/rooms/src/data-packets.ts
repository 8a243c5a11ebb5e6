import { DataPacket, DataPacket_Kind, UserPacket } from "@livekit/protocol";
import type { DataKind } from "./media/messages.ts";
import type { Participant } from "./participant.ts";
import { takeReply } from "./remote-calls.ts";

/** A packet as it goes on, and to whom. */
export interface RoutedPacket {
  bytes: Uint8Array;
  destinations: Participant[];
}

/** Reads a participant's packet and returns its receivers; undefined when there are none. */
export function routePacket(
  { bytes, kind, sender }: { bytes: Uint8Array; kind: DataKind; sender: Participant },
  participants: Iterable<Participant>,
): RoutedPacket | undefined {
  const packet = parsePacket(bytes);
  if (!packet || packet.value.case === undefined || packet.value.case === "speaker") return undefined; // ours to say
  if (kind === "reliable" && packet.sequence > 0) {
    if (packet.sequence <= sender.lastDataSequence) return undefined; // sent again after a resume
    sender.lastDataSequence = packet.sequence;
  }
  if (takeReply(sender, packet)) return undefined;
  packet.kind = toProtocolKind(kind);
  packet.participantSid = sender.sid;
  packet.participantIdentity = sender.identity;
  let wanted = packet.destinationIdentities;
  let wantedSids: string[] = [];
  if (packet.value.case === "user") {
    const user = packet.value.value;
    user.participantSid = sender.permission.hidden ? "" : sender.sid;
    user.participantIdentity = sender.permission.hidden ? "" : sender.identity;
    if (wanted.length === 0) wanted = user.destinationIdentities;
    wantedSids = user.destinationSids;
  }
  if (sender.permission.hidden) {
    packet.participantSid = "";
    packet.participantIdentity = "";
  }
  const destinations = receivers(participants, { identities: wanted, sids: wantedSids }).filter(
    (participant) => participant !== sender,
  );
  return destinations.length > 0 ? { bytes: packet.toBinary(), destinations } : undefined;
}

export interface ServerData {
  data: Uint8Array;
  topic: string | undefined;
  kind: DataKind;
  identities: string[];
  sids: string[];
  nonce: Uint8Array;
}

/** A packet that comes from no participant. */
export function serverPacket(data: ServerData, participants: Iterable<Participant>): RoutedPacket {
  const packet = new DataPacket({
    kind: toProtocolKind(data.kind),
    destinationIdentities: data.identities,
    value: {
      case: "user",
      value: new UserPacket({
        payload: data.data,
        destinationIdentities: data.identities,
        destinationSids: data.sids,
        nonce: data.nonce,
        ...(data.topic === undefined ? {} : { topic: data.topic }),
      }),
    },
  });
  return {
    bytes: packet.toBinary(),
    destinations: receivers(participants, { identities: data.identities, sids: data.sids }),
  };
}

function receivers(
  participants: Iterable<Participant>,
  { identities, sids }: { identities: string[]; sids: string[] },
): Participant[] {
  const all = [...participants];
  if (identities.length === 0 && sids.length === 0) return all;
  return all.filter(({ identity, sid }) => identities.includes(identity) || sids.includes(sid));
}

function parsePacket(bytes: Uint8Array): DataPacket | undefined {
  try {
    return DataPacket.fromBinary(bytes);
  } catch {
    return undefined;
  }
}

function toProtocolKind(kind: DataKind): DataPacket_Kind {
  return kind === "reliable" ? DataPacket_Kind.RELIABLE : DataPacket_Kind.LOSSY;
}
