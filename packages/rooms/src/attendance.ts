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
  /** Where it is to send media to, if not where everybody does. */
  mediaAddress?: string | undefined;
}

type Wait = "resume" | "connect" | "media" | "token" | "tracks";

// livekit-client takes itself for connected as soon as its connections are, but holds back what happens for two seconds
// after a join that follows a lost one; and of that it never tells. Tracks that come then are received and not heard, so
// those that are not in our first offer wait.
const TRACKS_AGAIN_MS = 3_000;
const MEDIA_LOST_MS = 10_000; // clients notice and come back by themselves
const TOKEN_VALID_S = 600;
const TURN_VALID_MS = 24 * 3_600_000; // longer than anybody stays; a relay does not outlive its credentials
const PROTOCOL_VERSION = 16;
const GOOD_BELOW = 0.1;
const EXCELLENT_BELOW = 0.02;

/** Somebody joins. Whoever has the same identity has to go. */
export function attend(options: AttendanceOptions): Attendance {
  const { room, admission, socket, remoteAddress, mediaAddress } = options;
  const { settings, log } = room;
  const waits: Deadlines<Wait> = createDeadlines();
  const twin = room.participants.get(admission.grants.identity);
  if (twin)
    room.remove(twin, {
      reason: DisconnectReason.DUPLICATE_IDENTITY,
      tell: LeaveRequest_Action.DISCONNECT,
    });
  const participant = createParticipant({ ...admission, mediaAddress });
  const states: Partial<Record<ConnectionSide, ConnectionState>> = {};
  let address = remoteAddress;
  let quality: ConnectionQuality | undefined;

  function listen(to: WebSocket, from: string): SignalConnection {
    address = from;
    const signal = createSignalConnection(to, {
      remoteAddress: from,
      messagesPerSecond: settings.limits.signalMessagesPerSecond,
      silenceMs: (settings.timing.pingTimeoutS + settings.timing.pingIntervalS) * 1000,
      request: (message) => handleRequest(room, participant, message),
      lost: (reason) => signalLost(signal, reason),
    });
    return signal;
  }

  function signalLost(signal: SignalConnection, reason: string): void {
    if (participant.signal !== signal) return;
    participant.signal = undefined;
    log.debug({ participant: participant.identity, reason }, "signal connection lost");
    if (!isHealthy()) return depart(DisconnectReason.SIGNAL_CLOSE);
    waits.set("resume", settings.timing.resumeMs, () => depart(DisconnectReason.SIGNAL_CLOSE));
  }

  function depart(reason: DisconnectReason, tell?: LeaveRequest_Action): void {
    room.remove(participant, { reason, ...(tell === undefined ? {} : { tell }) });
  }

  /** Media goes on, so a new socket is all that is needed. */
  function isHealthy(): boolean {
    return states.subscriber === "connected" && (states.publisher ?? "connected") === "connected";
  }

  function refreshTokens(): void {
    waits.set("token", settings.timing.tokenRefreshMs, () => {
      void refreshedToken(participant, room).then((token) =>
        participant.send({ case: "refreshToken", value: token }),
      );
      refreshTokens();
    });
  }

  participant.signal = listen(socket, remoteAddress);
  const isReturning = room.takeReturning(participant.identity);
  room.add(participant);
  participant.send({ case: "join", value: joinResponse(room, participant) });
  if (!participant.permission.hidden) {
    const update = new ParticipantUpdate({ participants: [participant.info()] });
    for (const other of room.others(participant)) other.send({ case: "update", value: update });
  }
  room.syncSubscriptions();
  if (isReturning && participant.client.sdk === "js") {
    participant.subscribing.isHeld = true;
    waits.set("tracks", TRACKS_AGAIN_MS, () => {
      participant.subscribing.isHeld = false;
      room.syncSubscriptions();
    });
  }
  room.broadcastRoom();
  waits.set("connect", settings.timing.connectMs, () =>
    depart(DisconnectReason.CONNECTION_TIMEOUT, LeaveRequest_Action.DISCONNECT),
  );
  refreshTokens();

  return {
    room,
    participant,
    resume(next, from) {
      if (!isHealthy() || from !== address) {
        // The library cannot restart ICE; a client that is told so connects anew, at once.
        const signal = listen(next, from);
        signal.send(leave(DisconnectReason.STATE_MISMATCH, LeaveRequest_Action.RECONNECT));
        return signal.close("connect anew");
      }
      waits.clear("resume");
      const old = participant.signal;
      participant.signal = listen(next, from);
      old?.close("resumed elsewhere");
      participant.send({ case: "reconnect", value: reconnectResponse(room, participant) });
      const participants = [...visible(room.others(participant)), participant].map((other) => other.info());
      participant.send({ case: "update", value: new ParticipantUpdate({ participants }) });
      participant.send({ case: "roomUpdate", value: new RoomUpdate({ room: room.info() }) });
      log.info({ participant: participant.identity }, "participant resumed");
      return room.media({ type: "resume", peer: participant.sid });
    },
    mediaChanged(side, state) {
      states[side] = state;
      if (state === "connected") {
        waits.clear("media");
        if (side === "publisher" || participant.state === ParticipantInfo_State.ACTIVE) return;
        waits.clear("connect");
        participant.state = ParticipantInfo_State.ACTIVE;
        room.broadcastInfo(participant);
        return;
      }
      if (!participant.signal) return depart(DisconnectReason.CONNECTION_TIMEOUT);
      waits.set("media", MEDIA_LOST_MS, () =>
        depart(DisconnectReason.CONNECTION_TIMEOUT, LeaveRequest_Action.RECONNECT),
      );
    },
    setQuality(lostShare) {
      const next = qualityOf(lostShare);
      if (next === quality) return;
      quality = next;
      const info = new ConnectionQualityInfo({
        participantSid: participant.sid,
        quality,
        score: scoreOf(next),
      });
      const value = new ConnectionQualityUpdate({ updates: [info] });
      const receivers = participant.permission.hidden ? [participant] : room.participants.values();
      for (const receiver of receivers) receiver.send({ case: "connectionQuality", value });
    },
    ended: () => waits.clearAll(),
  };
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
