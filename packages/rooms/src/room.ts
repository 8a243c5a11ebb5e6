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

/** A room: its participants, and the messages each of them must get. */
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
  /** Removes a participant, tells it why if it is still connected, and tells the others. */
  remove(participant: Participant, departure: Departure): void;
  /** Sends a participant's current state to all who may see it. */
  broadcastInfo(participant: Participant): void;
  broadcastRoom(): void;
  others(participant: Participant): Participant[];
  /** Whether this identity was here and left against its will. The answer is true once. */
  takeReturning(identity: string): boolean;
  /** Starts and ends subscriptions until each participant receives the tracks it should. */
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
  /** The action sent to the participant; undefined when it left by itself. */
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
const GOODBYE_MS = 250; // media ends after the leave message, or clients report a failure

export function createRoom(options: RoomOptions): Room {
  return new OpenRoom(options);
}

class OpenRoom implements Room {
  readonly name: string;
  readonly sid = newSid("RM");
  readonly settings: RoomSettings;
  readonly log: Log;
  readonly participants = new Map<string, Participant>();
  readonly properties: RoomProperties;
  readonly #options: RoomOptions;
  readonly #createdMs = Date.now();
  readonly #returning = new Set<string>();
  readonly #deadlines = createDeadlines<"empty">();
  #everJoined = false;
  #isClosed = false;

  constructor(options: RoomOptions) {
    const { name, settings } = options;
    this.#options = options;
    this.name = name;
    this.settings = settings;
    this.log = options.log.child({ room: name, roomSid: this.sid });
    this.properties = {
      emptyTimeoutS: settings.timing.emptyTimeoutS,
      departureTimeoutS: settings.timing.departureTimeoutS,
      maxParticipants: 0,
      metadata: "",
    };
    this.#closeWhenEmpty();
    this.log.info({}, "room opened");
  }

  info(): RoomInfo {
    const seen = visible(this.participants.values());
    return new RoomInfo({
      sid: this.sid,
      name: this.name,
      emptyTimeout: this.properties.emptyTimeoutS,
      departureTimeout: this.properties.departureTimeoutS,
      maxParticipants: this.properties.maxParticipants,
      metadata: this.properties.metadata,
      creationTime: BigInt(Math.trunc(this.#createdMs / 1000)),
      creationTimeMs: BigInt(this.#createdMs),
      numParticipants: seen.length,
      numPublishers: seen.filter(({ publishing }) => publishing.tracks.size > 0).length,
    });
  }

  media(command: MediaCommand): void {
    this.#options.media(command);
  }

  others(participant: Participant): Participant[] {
    return [...this.participants.values()].filter((other) => other !== participant);
  }

  takeReturning(identity: string): boolean {
    return this.#returning.delete(identity);
  }

  add(participant: Participant): void {
    this.#everJoined = true;
    this.#deadlines.clear("empty");
    this.participants.set(participant.identity, participant);
    this.media({ type: "open", peer: participant.sid, address: participant.mediaAddress });
    this.log.info({ participant: participant.identity, sid: participant.sid }, "participant joined");
  }

  remove(participant: Participant, { reason, tell }: Departure): void {
    if (this.participants.get(participant.identity) !== participant) return;
    this.participants.delete(participant.identity);
    participant.state = ParticipantInfo_State.DISCONNECTED;
    if (reason !== DisconnectReason.CLIENT_INITIATED && this.#returning.size < RETURNING_MAX)
      this.#returning.add(participant.identity);
    if (tell !== undefined) participant.send(leave(reason, tell));
    participant.signal?.close("left");
    for (const call of participant.calls.values())
      call.fail(new ServiceError("unavailable", "Recipient disconnected"));
    participant.signal = undefined;
    this.#announceDeparture(participant, reason);
    this.syncSubscriptions();
    const end = (): void => this.media({ type: "close", peer: participant.sid });
    if (tell === undefined) end();
    else setTimeout(end, GOODBYE_MS);
    this.#options.left(participant);
    this.log.info(
      { participant: participant.identity, reason: DisconnectReason[reason] },
      "participant left",
    );
    if (this.#isClosed) return;
    this.broadcastRoom();
    if (this.participants.size === 0) this.#closeWhenEmpty();
  }

  broadcastInfo(participant: Participant): void {
    const value = new ParticipantUpdate({ participants: [participant.info()] });
    const receivers = participant.permission.hidden ? [participant] : this.participants.values();
    for (const receiver of receivers) receiver.send({ case: "update", value });
  }

  broadcastRoom(): void {
    const value = new RoomUpdate({ room: this.info() });
    for (const participant of this.participants.values()) participant.send({ case: "roomUpdate", value });
  }

  syncSubscriptions(): void {
    for (const participant of this.participants.values()) this.#syncOne(participant);
  }

  setProperties(next: Partial<RoomProperties>): void {
    Object.assign(this.properties, next);
    if (this.participants.size === 0) this.#closeWhenEmpty();
  }

  close(reason: DisconnectReason): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deadlines.clearAll();
    for (const participant of [...this.participants.values()])
      this.remove(participant, { reason, tell: LeaveRequest_Action.DISCONNECT });
    this.log.info({ reason: DisconnectReason[reason] }, "room closed");
    this.#options.closed();
  }

  #announceDeparture(participant: Participant, reason: DisconnectReason): void {
    if (participant.permission.hidden) return;
    const value = new ParticipantUpdate({ participants: [participant.info({ disconnectReason: reason })] });
    for (const other of this.participants.values()) other.send({ case: "update", value });
  }

  #closeWhenEmpty(): void {
    const { departureTimeoutS, emptyTimeoutS } = this.properties;
    const afterS = this.#everJoined ? departureTimeoutS : emptyTimeoutS;
    this.#deadlines.set("empty", afterS * 1000, () => this.close(DisconnectReason.ROOM_CLOSED));
  }

  #syncOne(subscriber: Participant): void {
    const plan = planSubscriptions(subscriber, this.participants.values());
    const { tracks } = subscriber.subscribing;
    for (const track of plan.unsubscribe) {
      tracks.delete(track);
      this.media({ type: "unsubscribe", peer: subscriber.sid, track });
    }
    for (const { publisher, trackSid } of plan.subscribe) {
      tracks.add(trackSid);
      const streamId = `${publisher.sid}|${trackSid}`; // clients read the publisher from it
      this.media({ type: "subscribe", peer: subscriber.sid, track: trackSid, streamId });
    }
  }
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
