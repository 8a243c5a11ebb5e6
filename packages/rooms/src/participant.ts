import {
  type ClientInfo_Capability,
  type DisconnectReason,
  ParticipantInfo,
  ParticipantInfo_Kind,
  ParticipantInfo_State,
  ParticipantPermission,
  TrackSource,
  type AddTrackRequest,
  type SubscriptionPermission,
  type TrackInfo,
} from "@livekit/protocol";
import { newSid } from "./ids.ts";
import type { RemoteCall } from "./remote-calls.ts";
import type { SignalConnection, SignalResponseMessage } from "./signalling.ts";
import type { Grants } from "./tokens.ts";

/** A participant of a room: its identity, permissions, published tracks and subscriptions. */
export interface Participant {
  readonly sid: string;
  readonly identity: string;
  readonly autoSubscribe: boolean;
  readonly grants: Grants;
  readonly client: ClientDetails;
  /** Where this participant sends media to, if not to the common address. */
  readonly mediaAddress: string | undefined;
  state: ParticipantInfo_State;
  permission: ParticipantPermission;
  name: string;
  metadata: string;
  attributes: Record<string, string>;
  /** Undefined while the participant may still come back. */
  signal: SignalConnection | undefined;
  readonly publishing: Publishing;
  readonly subscribing: Subscribing;
  /** Calls of the room service that the participant is to answer, by their ids. */
  readonly calls: Map<string, RemoteCall>;
  /** The last number of its reliable data; packets repeated after a resume are recognised by it. */
  lastDataSequence: number;
  send(message: SignalResponseMessage): void;
  /** The state sent to other participants. Each call has a higher version. */
  info(ending?: { disconnectReason: DisconnectReason }): ParticipantInfo;
}

export interface ClientDetails {
  /** `js`, `rust`, … */
  sdk: string;
  clientProtocol: number;
  capabilities: ClientInfo_Capability[];
}

export interface Publishing {
  /** Announced by their publisher and not yet in an offer; by the publisher's own name for them. */
  readonly announced: Map<string, AnnouncedTrack>;
  /** By sid. */
  readonly tracks: Map<string, PublishedTrackState>;
  /** Participants that may subscribe; all if the publisher has not restricted them. */
  permission: SubscriptionPermission | undefined;
}

export interface AnnouncedTrack {
  request: AddTrackRequest;
  info: TrackInfo;
}

export interface PublishedTrackState {
  info: TrackInfo;
  mid: string;
  dtx: boolean;
  hasSubscribers: boolean;
}

export interface Subscribing {
  /** The participant's choices by track; auto-subscribe decides about the others. */
  readonly choices: Map<string, boolean>;
  /** Tracks the media process was told to send. */
  readonly tracks: Set<string>;
  /** It would lose what came now. */
  isHeld: boolean;
}

export interface ParticipantOptions {
  grants: Grants;
  autoSubscribe: boolean;
  client: ClientDetails;
  mediaAddress?: string | undefined;
}

const KINDS: Record<string, ParticipantInfo_Kind> = {
  standard: ParticipantInfo_Kind.STANDARD,
  ingress: ParticipantInfo_Kind.INGRESS,
  egress: ParticipantInfo_Kind.EGRESS,
  sip: ParticipantInfo_Kind.SIP,
  agent: ParticipantInfo_Kind.AGENT,
  connector: ParticipantInfo_Kind.CONNECTOR,
};

export function createParticipant(options: ParticipantOptions): Participant {
  const { grants, autoSubscribe, client, mediaAddress } = options;
  const joinedAtMs = Date.now();
  const kind =
    KINDS[grants.kind ?? ""] ??
    (grants.video?.agent ? ParticipantInfo_Kind.AGENT : ParticipantInfo_Kind.STANDARD);
  let version = 0;

  const participant: Participant = {
    sid: newSid("PA"),
    identity: grants.identity,
    autoSubscribe,
    grants,
    client,
    mediaAddress,
    state: ParticipantInfo_State.JOINED,
    permission: permissionOf(grants),
    name: grants.name,
    metadata: grants.metadata,
    attributes: { ...grants.attributes },
    signal: undefined,
    publishing: { announced: new Map(), tracks: new Map(), permission: undefined },
    subscribing: { choices: new Map(), tracks: new Set(), isHeld: false },
    calls: new Map(),
    lastDataSequence: 0,
    send: (message) => participant.signal?.send(message),
    info(ending) {
      version += 1;
      const { publishing } = participant;
      return new ParticipantInfo({
        sid: participant.sid,
        identity: participant.identity,
        name: participant.name,
        state: ending ? ParticipantInfo_State.DISCONNECTED : participant.state,
        metadata: participant.metadata,
        attributes: participant.attributes,
        joinedAt: BigInt(Math.trunc(joinedAtMs / 1000)),
        joinedAtMs: BigInt(joinedAtMs),
        version,
        permission: participant.permission,
        isPublisher: publishing.tracks.size > 0,
        kind,
        tracks: [...publishing.tracks.values()].map(({ info }) => info.clone()),
        clientProtocol: client.clientProtocol,
        capabilities: client.capabilities,
        ...(ending ? { disconnectReason: ending.disconnectReason } : {}),
      });
    },
  };
  return participant;
}

/** The sources a token may name. */
const SOURCES: Record<string, TrackSource> = {
  camera: TrackSource.CAMERA,
  microphone: TrackSource.MICROPHONE,
  screen_share: TrackSource.SCREEN_SHARE,
  screen_share_audio: TrackSource.SCREEN_SHARE_AUDIO,
};

function permissionOf({ video = {} }: Grants): ParticipantPermission {
  const sources = video.canPublishSources?.map((source) => SOURCES[source.toLowerCase()]);
  return new ParticipantPermission({
    canPublish: video.canPublish ?? true,
    canSubscribe: video.canSubscribe ?? true,
    canPublishData: video.canPublishData ?? video.canPublish ?? true,
    canPublishSources: sources?.filter((source) => source !== undefined) ?? [],
    canUpdateMetadata: video.canUpdateOwnMetadata ?? false,
    hidden: video.hidden ?? false,
    recorder: video.recorder ?? false,
    agent: video.agent ?? false,
  });
}

export function mayPublish({ permission }: Participant, source: TrackSource): boolean {
  if (!permission.canPublish) return false;
  return permission.canPublishSources.length === 0 || permission.canPublishSources.includes(source);
}
