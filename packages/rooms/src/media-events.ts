import {
  DisconnectReason,
  LeaveRequest_Action,
  SessionDescription,
  SpeakerInfo,
  SpeakersChanged,
  TrackSubscribed,
} from "@livekit/protocol";
import type { Attendance } from "./attendance.ts";
import { routePacket } from "./data-packets.ts";
import type { MediaEvent, TrackLevel, TrackLoss } from "./media/messages.ts";
import { createRateLimit, type RateLimit } from "./rate-limit.ts";
import type { Room } from "./room.ts";
import { createSpeakers, type ParticipantLevel, type Speakers } from "./speakers.ts";

/** Turns the reports of the media process into messages to participants. */
export interface MediaEvents {
  receive(event: MediaEvent): void;
  forget(attendance: Attendance): void;
}

type OfPeer = Extract<MediaEvent, { peer: string }>;

export function createMediaEvents(attendances: ReadonlyMap<string, Attendance>): MediaEvents {
  return new Dispatcher(attendances);
}

class Dispatcher implements MediaEvents {
  readonly #attendances: ReadonlyMap<string, Attendance>;
  readonly #speakers = new WeakMap<Room, Speakers>();
  readonly #rates = new Map<string, RateLimit>();

  constructor(attendances: ReadonlyMap<string, Attendance>) {
    this.#attendances = attendances;
  }

  receive(event: MediaEvent): void {
    if (event.type === "levels") return this.#takeLevels(event.levels);
    if (event.type === "losses") return this.#takeLosses(event.losses);
    if (event.type === "problem") return undefined; // logged by the host
    const attendance = this.#attendances.get(event.peer);
    return attendance && this.#takeOfPeer(attendance, event);
  }

  forget({ room, participant }: Attendance): void {
    this.#rates.delete(participant.sid);
    this.#speakers.get(room)?.forget(participant.sid);
  }

  #takeLevels(levels: TrackLevel[]): void {
    const byTrack = new Map(levels.map((level) => [level.track, level]));
    const byRoom = new Map<Room, ParticipantLevel[]>();
    for (const { room, participant } of this.#attendances.values()) {
      const own = byRoom.get(room) ?? [];
      byRoom.set(room, own);
      for (const sid of participant.publishing.tracks.keys()) {
        const level = byTrack.get(sid);
        if (level) own.push({ ...level, participant: participant.sid });
      }
    }
    for (const [room, own] of byRoom) this.#updateSpeakers(room, own);
  }

  #updateSpeakers(room: Room, levels: ParticipantLevel[]): void {
    const known = this.#speakers.get(room) ?? createSpeakers();
    this.#speakers.set(room, known);
    const changed = known.update(levels);
    if (changed.length === 0) return;
    // All active speakers, not only those that changed: some clients take the list as complete.
    const speakers = [...known.active(), ...changed.filter(({ active }) => !active)];
    const value = new SpeakersChanged({
      speakers: speakers.map(({ participant: sid, ...speaker }) => new SpeakerInfo({ sid, ...speaker })),
    });
    for (const participant of room.participants.values())
      participant.send({ case: "speakersChanged", value });
  }

  #takeLosses(losses: TrackLoss[]): void {
    const byTrack = new Map(losses.map(({ track, lostShare }) => [track, lostShare]));
    for (const attendance of this.#attendances.values()) {
      const sids = [...attendance.participant.publishing.tracks.keys()];
      const shares = sids.flatMap((sid) => byTrack.get(sid) ?? []);
      if (shares.length > 0) attendance.setQuality(Math.max(...shares));
    }
  }

  #takeOfPeer(attendance: Attendance, event: OfPeer): void {
    const { participant } = attendance;
    switch (event.type) {
      case "publisher-answer": {
        const value = new SessionDescription({ type: "answer", sdp: event.sdp, id: event.offerId });
        return participant.send({ case: "answer", value });
      }
      case "subscriber-offer": {
        const { sdp, offerId: id, midToTrack: midToTrackId } = event;
        const value = new SessionDescription({ type: "offer", sdp, id, midToTrackId });
        return participant.send({ case: "offer", value });
      }
      case "subscribed":
        return noteSubscribed(attendance, event.track);
      case "connection-state":
        return attendance.mediaChanged(event.side, event.state);
      case "data":
        return this.#takeData(attendance, event);
      case "refused":
        return sendAway(attendance, { ...event, tell: LeaveRequest_Action.DISCONNECT });
      case "full":
        return sendAway(attendance, { ...event, tell: LeaveRequest_Action.RECONNECT });
      default:
        return event satisfies never;
    }
  }

  #takeData(attendance: Attendance, { bytes, kind }: Extract<MediaEvent, { type: "data" }>): void {
    const { room, participant } = attendance;
    const { limits } = room.settings;
    if (!participant.permission.canPublishData || bytes.length > limits.dataBytes) return;
    const rate = this.#rates.get(participant.sid) ?? createRateLimit(limits.dataPacketsPerSecond);
    this.#rates.set(participant.sid, rate);
    if (!rate.take()) return;
    const routed = routePacket({ bytes, kind, sender: participant }, room.participants.values());
    if (!routed) return;
    const peers = routed.destinations.map(({ sid }) => sid);
    room.media({ type: "send-data", peers, kind, bytes: routed.bytes });
  }
}

function noteSubscribed({ room }: Attendance, trackSid: string): void {
  for (const publisher of room.participants.values()) {
    const track = publisher.publishing.tracks.get(trackSid);
    if (!track || track.hasSubscribers) continue;
    track.hasSubscribers = true;
    publisher.send({ case: "trackSubscribed", value: new TrackSubscribed({ trackSid }) });
  }
}

function sendAway(
  { room, participant }: Attendance,
  { type, reason, tell }: { type: "refused" | "full"; reason: string; tell: LeaveRequest_Action },
): void {
  const sentence = type === "refused" ? "description refused" : "participant must connect anew";
  room.log.warn({ participant: participant.identity, reason }, sentence);
  room.remove(participant, { reason: DisconnectReason.STATE_MISMATCH, tell });
}
