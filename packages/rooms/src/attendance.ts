import {
  ConnectionQuality,
  ConnectionQualityInfo,
  ConnectionQualityUpdate,
  DisconnectReason,
  ICEServer,
  JoinResponse,
  LeaveRequest_Action,
  ParticipantInfo_State,
  ParticipantUpdate,
  ReconnectResponse,
  RoomUpdate,
  ServerInfo,
  ServerInfo_Edition,
  Codec,
} from "@livekit/protocol";
import type { WebSocket } from "ws";
import type { Admission } from "./admission.ts";
import { createDeadlines, type Deadlines } from "./deadlines.ts";
import { handleRequest } from "./handle-request.ts";
import type { ConnectionSide, ConnectionState } from "./media/messages.ts";
import { createParticipant, type Participant } from "./participant.ts";
import { leave, visible, type Room } from "./room.ts";
import { createSignalConnection, type SignalConnection } from "./signalling.ts";
import { signToken } from "./tokens.ts";
import { mintTurnServer } from "./turn.ts";

/** One participant's stay: from its first socket, over those it resumes with, to its end. */
export interface Attendance {
  readonly room: Room;
  readonly participant: Participant;
  resume(socket: WebSocket, remoteAddress: string): void;
  mediaChanged(side: ConnectionSide, state: ConnectionState): void;
  setQuality(lostShare: number): void;
  ended(): void;
}

export interface AttendanceOptions {
  room: Room;
  admission: Admission;
  socket: WebSocket;
  remoteAddress: string;
  /** Where this participant sends media to, if not to the common address. */
  mediaAddress?: string | undefined;
}

type Wait = "resume" | "connect" | "media" | "token" | "tracks";

// After a join that follows a lost connection, livekit-client holds back events for two seconds and drops some of them:
// tracks that arrive in that time are received but never played. Tracks that are not in our first offer therefore wait.
const TRACKS_AGAIN_MS = 3_000;
const MEDIA_LOST_MS = 10_000; // clients notice and come back by themselves
const TOKEN_VALID_S = 600;
const TURN_VALID_MS = 24 * 3_600_000; // longer than any call; a relay does not outlive its credentials
const PROTOCOL_VERSION = 16;
const GOOD_BELOW = 0.1;
const EXCELLENT_BELOW = 0.02;

/** Lets a participant join. A participant with the same identity is removed. */
export function attend(options: AttendanceOptions): Attendance {
  const { room, admission } = options;
  const twin = room.participants.get(admission.grants.identity);
  if (twin)
    room.remove(twin, {
      reason: DisconnectReason.DUPLICATE_IDENTITY,
      tell: LeaveRequest_Action.DISCONNECT,
    });
  return new Stay(options);
}

class Stay implements Attendance {
  readonly room: Room;
  readonly participant: Participant;
  readonly #waits: Deadlines<Wait> = createDeadlines();
  readonly #states: Partial<Record<ConnectionSide, ConnectionState>> = {};
  #address: string;
  #quality: ConnectionQuality | undefined;

  constructor({ room, admission, socket, remoteAddress, mediaAddress }: AttendanceOptions) {
    this.room = room;
    this.participant = createParticipant({ ...admission, mediaAddress });
    this.#address = remoteAddress;
    this.participant.signal = this.#listen(socket, remoteAddress);
    this.#join();
    this.#waits.set("connect", room.settings.timing.connectMs, () =>
      this.#depart(DisconnectReason.CONNECTION_TIMEOUT, LeaveRequest_Action.DISCONNECT),
    );
    this.#refreshTokens();
  }

  resume(socket: WebSocket, remoteAddress: string): void {
    const { room, participant } = this;
    if (!this.#isHealthy() || remoteAddress !== this.#address) {
      // The library cannot restart ICE; a client that gets this message connects anew, at once.
      const signal = this.#listen(socket, remoteAddress);
      signal.send(leave(DisconnectReason.STATE_MISMATCH, LeaveRequest_Action.RECONNECT));
      return signal.close("connect anew");
    }
    this.#waits.clear("resume");
    const old = participant.signal;
    participant.signal = this.#listen(socket, remoteAddress);
    old?.close("resumed elsewhere");
    participant.send({ case: "reconnect", value: reconnectResponse(room, participant) });
    const participants = [...visible(room.others(participant)), participant].map((other) => other.info());
    participant.send({ case: "update", value: new ParticipantUpdate({ participants }) });
    participant.send({ case: "roomUpdate", value: new RoomUpdate({ room: room.info() }) });
    room.log.info({ participant: participant.identity }, "participant resumed");
    return room.media({ type: "resume", peer: participant.sid });
  }

  mediaChanged(side: ConnectionSide, state: ConnectionState): void {
    const { room, participant } = this;
    this.#states[side] = state;
    if (state === "connected") {
      this.#waits.clear("media");
      if (side === "publisher" || participant.state === ParticipantInfo_State.ACTIVE) return;
      this.#waits.clear("connect");
      participant.state = ParticipantInfo_State.ACTIVE;
      room.broadcastInfo(participant);
      return;
    }
    if (!participant.signal) return this.#depart(DisconnectReason.CONNECTION_TIMEOUT);
    this.#waits.set("media", MEDIA_LOST_MS, () =>
      this.#depart(DisconnectReason.CONNECTION_TIMEOUT, LeaveRequest_Action.RECONNECT),
    );
  }

  setQuality(lostShare: number): void {
    const { room, participant } = this;
    const quality = qualityOf(lostShare);
    if (quality === this.#quality) return;
    this.#quality = quality;
    const info = new ConnectionQualityInfo({
      participantSid: participant.sid,
      quality,
      score: scoreOf(quality),
    });
    const value = new ConnectionQualityUpdate({ updates: [info] });
    const receivers = participant.permission.hidden ? [participant] : room.participants.values();
    for (const receiver of receivers) receiver.send({ case: "connectionQuality", value });
  }

  ended(): void {
    this.#waits.clearAll();
  }

  #join(): void {
    const { room, participant } = this;
    const isReturning = room.takeReturning(participant.identity);
    room.add(participant);
    participant.send({ case: "join", value: joinResponse(room, participant) });
    if (!participant.permission.hidden) {
      const value = new ParticipantUpdate({ participants: [participant.info()] });
      for (const other of room.others(participant)) other.send({ case: "update", value });
    }
    room.syncSubscriptions();
    if (isReturning && participant.client.sdk === "js") {
      participant.subscribing.isHeld = true;
      this.#waits.set("tracks", TRACKS_AGAIN_MS, () => {
        participant.subscribing.isHeld = false;
        room.syncSubscriptions();
      });
    }
    room.broadcastRoom();
  }

  #listen(socket: WebSocket, remoteAddress: string): SignalConnection {
    const { limits, timing } = this.room.settings;
    this.#address = remoteAddress;
    const signal = createSignalConnection(socket, {
      remoteAddress,
      messagesPerSecond: limits.signalMessagesPerSecond,
      silenceMs: (timing.pingTimeoutS + timing.pingIntervalS) * 1000,
      request: (message) => handleRequest(this.room, this.participant, message),
      lost: (reason) => this.#signalLost(signal, reason),
    });
    return signal;
  }

  #signalLost(signal: SignalConnection, reason: string): void {
    const { room, participant } = this;
    if (participant.signal !== signal) return;
    participant.signal = undefined;
    room.log.debug({ participant: participant.identity, reason }, "signal connection lost");
    if (!this.#isHealthy()) return this.#depart(DisconnectReason.SIGNAL_CLOSE);
    this.#waits.set("resume", room.settings.timing.resumeMs, () =>
      this.#depart(DisconnectReason.SIGNAL_CLOSE),
    );
  }

  #depart(reason: DisconnectReason, tell?: LeaveRequest_Action): void {
    this.room.remove(this.participant, { reason, ...(tell === undefined ? {} : { tell }) });
  }

  /** Media is connected, so a new socket is all that a resuming client needs. */
  #isHealthy(): boolean {
    const { subscriber, publisher = "connected" } = this.#states;
    return subscriber === "connected" && publisher === "connected";
  }

  #refreshTokens(): void {
    const { room, participant } = this;
    this.#waits.set("token", room.settings.timing.tokenRefreshMs, () => {
      void refreshedToken(participant, room).then((token) =>
        participant.send({ case: "refreshToken", value: token }),
      );
      this.#refreshTokens();
    });
  }
}

function joinResponse(room: Room, participant: Participant): JoinResponse {
  const { timing } = room.settings;
  return new JoinResponse({
    room: room.info(),
    participant: participant.info(),
    otherParticipants: visible(room.others(participant)).map((other) => other.info()),
    iceServers: iceServersFor(participant, room),
    subscriberPrimary: true,
    pingInterval: timing.pingIntervalS,
    pingTimeout: timing.pingTimeoutS,
    serverInfo: SERVER_INFO,
    serverVersion: SERVER_INFO.version,
    enabledPublishCodecs: PUBLISH_CODECS.map((mime) => new Codec({ mime })),
    fastPublish: participant.permission.canPublish,
  });
}

function reconnectResponse(room: Room, participant: Participant): ReconnectResponse {
  return new ReconnectResponse({
    iceServers: iceServersFor(participant, room),
    serverInfo: SERVER_INFO,
    lastMessageSeq: participant.lastDataSequence,
  });
}

function iceServersFor({ sid }: Participant, { settings: { iceServers, turn } }: Room): ICEServer[] {
  const minted = turn
    ? [mintTurnServer(turn, { nowMs: Date.now(), validForMs: TURN_VALID_MS, user: sid })]
    : [];
  return [...iceServers, ...minted].map((server) => new ICEServer(server));
}

function refreshedToken(participant: Participant, { name, settings }: Room): Promise<string> {
  const { identity, metadata, attributes, permission, grants } = participant;
  const { canPublish, canSubscribe, canPublishData, hidden } = permission;
  const video = { ...grants.video, room: name, canPublish, canSubscribe, canPublishData, hidden };
  const claims = { ...grants, identity, name: participant.name, metadata, attributes, video };
  return signToken({ ...claims, validForS: TOKEN_VALID_S }, settings);
}

function qualityOf(lostShare: number): ConnectionQuality {
  if (lostShare < EXCELLENT_BELOW) return ConnectionQuality.EXCELLENT;
  return lostShare < GOOD_BELOW ? ConnectionQuality.GOOD : ConnectionQuality.POOR;
}

function scoreOf(quality: ConnectionQuality): number {
  if (quality === ConnectionQuality.EXCELLENT) return 5;
  return quality === ConnectionQuality.GOOD ? 3.5 : 2;
}

const PUBLISH_CODECS = ["audio/opus", "video/VP8", "video/H264", "video/VP9", "video/AV1"];

const SERVER_INFO = new ServerInfo({
  edition: ServerInfo_Edition.Standard,
  version: "1.9.0", // of the LiveKit server whose behaviour clients may expect
  protocol: PROTOCOL_VERSION,
});
