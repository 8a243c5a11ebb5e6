import type {
  CarrierAccounts,
  Connect,
  Dialout,
  IceServer,
  RoomProviderName,
  RoomStarted,
  Started,
  TransportName,
} from "@vocalhost/protocol";
import type { OrganizationId, Principal } from "../../identity/principal.ts";
import type { DeploymentSpec } from "../../agents/deployments/deployment-spec.ts";
import type { SessionRow } from "@vocalhost/store/schema";
import type { RegionPreference } from "../choose-region.ts";
import type { SessionRequest, Starter } from "../start-session.ts";
import type { HeldCall } from "../session-rooms.ts";
import type { TokenSigner } from "./socket-tokens.ts";

/** One way into hosted sessions. All of them start through `startSession`, at once or when their client comes. */
export interface SessionDoor {
  /** The transports it answers to. */
  readonly names: readonly TransportName[];
  /** The `completionStatus` of a session that ended well. */
  readonly completion: "HTTP_COMPLETED" | "WS_CONNECTION_CLOSED";
  /** Starts the session or makes ready for its client, and says what that client is told. */
  start(context: DoorContext, request: DoorRequest): Promise<StartOutcome>;
}

export interface DoorContext {
  starter: Starter;
  signer: TokenSigner;
  /** For one session; credentials in it are for that one. */
  iceServersOf(session: SessionRow): IceServer[];
  /** How long a session waits for capacity. */
  queueMs: number;
  instanceToken(instanceId: string): string;
  rooms: SessionRooms;
  /** Below this, carriers can ask what to do with a call. */
  callbackUrl: string;
  dialling: SessionDialling;
}

/** Says which keys may place calls, and with which accounts. */
export interface SessionDialling {
  /** Whether a public key may, although it is in every visitor's browser. */
  takesPublicKeys: boolean;
  /** Returns the carriers' accounts in the secrets of a deployment. */
  accountsOf(organizationId: OrganizationId, spec: DeploymentSpec): Promise<CarrierAccounts>;
}

/** Makes rooms at any provider. */
export interface SessionRooms {
  /** Throws when this service has no account at the provider that was asked for. */
  require(requested: string): Promise<void>;
  make(wanted: WantedSessionRoom): Promise<MadeSessionRoom>;
  /** Reads a webhook's request; undefined for what is no call. Throws what the provider is told. */
  readCall(told: ToldCall): Promise<ServiceCall | undefined>;
  /** Reads that a room is ready for the call it was made for; undefined for what says something else. */
  readReady(told: ToldCall): Promise<ReadyRoom | undefined>;
  forwardCall(call: HeldCall & { sipUri: string }): Promise<void>;
  /** Removes all participants. A room that is gone is no error. */
  close(provider: RoomProviderName, roomName: string): Promise<void>;
}

export interface ToldCall {
  rawBody: string;
  headers: Record<string, string | string[] | undefined>;
}

export interface ReadyRoom {
  roomName: string;
  sipUri: string;
}

/** A phone call that a provider has told of. */
export interface ServiceCall {
  callId: string;
  body: object;
  open(mark: string): Promise<CallRoom>;
}

export interface CallRoom extends Omit<MadeSessionRoom, "connectIn"> {
  connect: Extract<Connect, { kind: "room" }>;
  /** Undefined for a caller who is in the room, or is forwarded once the room says that it is ready. */
  forwardCall: (() => Promise<void>) | undefined;
}

/** The room that a start asks for. */
export interface RequestedRoom {
  /** `room`, `livekit` or `daily`. */
  requested: string;
  roomProperties: unknown;
  tokenProperties: unknown;
  /** Lets into a room that there is already; undefined for one of the session's own. */
  token: string | undefined;
}

export interface WantedSessionRoom extends RequestedRoom {
  prefix: string;
  /** In which the bot may be. */
  regions: readonly string[];
  /** The same mark means the same room. */
  mark: string | undefined;
  reachedAs: string;
}

export interface MadeSessionRoom {
  name: string;
  /** For a bot in this region. */
  connectIn(region: string): Extract<Connect, { kind: "room" }>;
  answer(sessionId: string): RoomStarted;
  close(): Promise<void>;
}

export interface DoorRequest {
  asked: StartSessionRequest;
  /** The same as `startSession` wants it; how the client connects is for the door to say. */
  session: Omit<SessionRequest, "connect">;
}

export interface StartSessionRequest {
  principal: Principal;
  /** Network address of the caller, as the gateway tells it. */
  address: string;
  agentName: string;
  transport: TransportName;
  body: unknown;
  enableDefaultIceServers: boolean;
  room: RequestedRoom;
  region: RegionPreference;
  /** Whom to call; undefined: the client comes by itself. */
  dialout: Dialout | undefined;
  idempotencyKey: string | undefined;
  /** `ws://host` or `wss://host`, as the client knows us. */
  wsBase: string;
}

export interface StartOutcome {
  /** Null when none exists before its socket comes. */
  sessionId: string | null;
  /** Where it is and why; of one that waits for its socket, where it would be now. */
  region?: Pick<SessionRow, "region" | "regionReason">;
  answer: Started;
}
