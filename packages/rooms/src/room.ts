import {
  DisconnectReason,
  LeaveRequest,
  LeaveRequest_Action,
  ParticipantInfo_State,
  ParticipantUpdate,
  Room as RoomInfo,
  RoomUpdate,
} from "@livekit/protocol";
import { createDeadlines } from "./deadlines.ts";
import { newSid } from "./ids.ts";
import type { Log } from "./log.ts";
import type { MediaCommand } from "./media/messages.ts";
import type { Participant } from "./participant.ts";
import { ServiceError } from "./service-error.ts";
import type { RoomSettings } from "./settings.ts";
import { planSubscriptions } from "./subscriptions.ts";

/** A room: who is in it, and what each of them must be told. */
export interface Room {
  readonly name: string;
  readonly sid: string;
  readonly settings: RoomSettings;
  readonly log: Log;
  /** By identity. */
  readonly participants: ReadonlyMap<string, Participant>;
  readonly properties: RoomProperties;
  info(): RoomInfo;
  media(command: MediaCommand): void;
  add(participant: Participant): void;
  /** Takes somebody out, tells them why if they are there to hear it, and tells the others. */
  remove(participant: Participant, departure: Departure): void;
  /** Tells everybody how a participant is now. */
  broadcastInfo(participant: Participant): void;
  broadcastRoom(): void;
  others(participant: Participant): Participant[];
  /** Whether they were here and did not go of their own accord; asked once. */
  takeReturning(identity: string): boolean;
  /** Starts and ends subscriptions until everybody gets what they should. */
  syncSubscriptions(): void;
  setProperties(properties: Partial<RoomProperties>): void;
  close(reason: DisconnectReason): void;
}

export interface RoomProperties {
  emptyTimeoutS: number;
  departureTimeoutS: number;
  /** 0 for no limit but the server's own. */
  maxParticipants: number;
  metadata: string;
}

export interface Departure {
  reason: DisconnectReason;
  /** What the participant is told to do; undefined when it left by itself. */
  tell?: LeaveRequest_Action;
}

export interface RoomOptions {
  name: string;
  settings: RoomSettings;
  log: Log;
  media(command: MediaCommand): void;
  left(participant: Participant): void;
  closed(): void;
}

const RETURNING_MAX = 1_000;
const GOODBYE_MS = 250; // media outlives the goodbye, or clients take its end for a failure

export function createRoom(options: RoomOptions): Room {
  const { settings, media } = options;
  const sid = newSid("RM");
  const createdMs = Date.now();
  const participants = new Map<string, Participant>();
  const returning = new Set<string>();
  const deadlines = createDeadlines<"empty">();
  const log = options.log.child({ room: options.name, roomSid: sid });
  const properties: RoomProperties = {
    emptyTimeoutS: settings.timing.emptyTimeoutS,
    departureTimeoutS: settings.timing.departureTimeoutS,
    maxParticipants: 0,
    metadata: "",
  };
  let everJoined = false;
  let closed = false;

  function others(participant: Participant): Participant[] {
    return [...participants.values()].filter((other) => other !== participant);
  }

  function closeWhenEmpty(): void {
    const afterS = everJoined ? properties.departureTimeoutS : properties.emptyTimeoutS;
    deadlines.set("empty", afterS * 1000, () => room.close(DisconnectReason.ROOM_CLOSED));
  }

  const room: Room = {
    name: options.name,
    sid,
    settings,
    log,
    participants,
    properties,
    media,
    others,
    info: () =>
      new RoomInfo({
        sid,
        name: options.name,
        emptyTimeout: properties.emptyTimeoutS,
        departureTimeout: properties.departureTimeoutS,
        maxParticipants: properties.maxParticipants,
        metadata: properties.metadata,
        creationTime: BigInt(Math.trunc(createdMs / 1000)),
        creationTimeMs: BigInt(createdMs),
        numParticipants: visible(participants.values()).length,
        numPublishers: visible(participants.values()).filter(({ publishing }) => publishing.tracks.size > 0)
          .length,
      }),
    takeReturning: (identity) => returning.delete(identity),
    add(participant) {
      everJoined = true;
      deadlines.clear("empty");
      participants.set(participant.identity, participant);
      media({ type: "open", peer: participant.sid, address: participant.mediaAddress });
      log.info({ participant: participant.identity, sid: participant.sid }, "participant joined");
    },
    remove(participant, { reason, tell }) {
      if (participants.get(participant.identity) !== participant) return;
      participants.delete(participant.identity);
      participant.state = ParticipantInfo_State.DISCONNECTED;
      if (reason !== DisconnectReason.CLIENT_INITIATED && returning.size < RETURNING_MAX)
        returning.add(participant.identity);
      if (tell !== undefined) participant.send(leave(reason, tell));
      participant.signal?.close("left");
      for (const call of participant.calls.values())
        call.fail(new ServiceError("unavailable", "Recipient disconnected"));
      participant.signal = undefined;
      const update = new ParticipantUpdate({
        participants: [participant.info({ disconnectReason: reason })],
      });
      if (!participant.permission.hidden)
        for (const other of participants.values()) other.send({ case: "update", value: update });
      room.syncSubscriptions();
      const end = (): void => media({ type: "close", peer: participant.sid });
      if (tell === undefined) end();
      else setTimeout(end, GOODBYE_MS);
      options.left(participant);
      log.info({ participant: participant.identity, reason: DisconnectReason[reason] }, "participant left");
      if (closed) return;
      room.broadcastRoom();
      if (participants.size === 0) closeWhenEmpty();
    },
    broadcastInfo(participant) {
      const value = new ParticipantUpdate({ participants: [participant.info()] });
      const receivers = participant.permission.hidden ? [participant] : participants.values();
      for (const receiver of receivers) receiver.send({ case: "update", value });
    },
    broadcastRoom() {
      const value = new RoomUpdate({ room: room.info() });
      for (const participant of participants.values()) participant.send({ case: "roomUpdate", value });
    },
    syncSubscriptions() {
      for (const participant of participants.values()) syncOne(participant);
    },
    setProperties(next) {
      Object.assign(properties, next);
      if (participants.size === 0) closeWhenEmpty();
    },
    close(reason) {
      if (closed) return;
      closed = true;
      deadlines.clearAll();
      for (const participant of [...participants.values()])
        room.remove(participant, { reason, tell: LeaveRequest_Action.DISCONNECT });
      log.info({ reason: DisconnectReason[reason] }, "room closed");
      options.closed();
    },
  };

  function syncOne(subscriber: Participant): void {
    const plan = planSubscriptions(subscriber, participants.values());
    const { tracks } = subscriber.subscribing;
    for (const track of plan.unsubscribe) {
      tracks.delete(track);
      media({ type: "unsubscribe", peer: subscriber.sid, track });
    }
    for (const { publisher, trackSid } of plan.subscribe) {
      tracks.add(trackSid);
      const streamId = `${publisher.sid}|${trackSid}`; // how clients know whose it is
      media({ type: "subscribe", peer: subscriber.sid, track: trackSid, streamId });
    }
  }

  closeWhenEmpty();
  log.info({}, "room opened");
  return room;
}

export function leave(
  reason: DisconnectReason,
  action: LeaveRequest_Action,
): { case: "leave"; value: LeaveRequest } {
  const canReconnect = action !== LeaveRequest_Action.DISCONNECT;
  return { case: "leave", value: new LeaveRequest({ reason, action, canReconnect }) };
}

export function visible(participants: Iterable<Participant>): Participant[] {
  return [...participants].filter(({ permission }) => !permission.hidden);
}
