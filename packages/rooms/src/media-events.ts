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

/** Turns what the media process reports into what participants are told. */
export interface MediaEvents {
  receive(event: MediaEvent): void;
  forget(attendance: Attendance): void;
}

type OfPeer = Extract<MediaEvent, { peer: string }>;

export function createMediaEvents(attendances: ReadonlyMap<string, Attendance>): MediaEvents {
  const speakers = new WeakMap<Room, Speakers>();
  const rates = new Map<string, RateLimit>();

  function ofRoom(room: Room): Speakers {
    const known = speakers.get(room) ?? createSpeakers();
    speakers.set(room, known);
    return known;
  }

  function takeData(attendance: Attendance, { bytes, kind }: Extract<MediaEvent, { type: "data" }>): void {
    const { room, participant } = attendance;
    const { limits } = room.settings;
    if (!participant.permission.canPublishData || bytes.length > limits.dataBytes) return;
    const rate = rates.get(participant.sid) ?? createRateLimit(limits.dataPacketsPerSecond);
    rates.set(participant.sid, rate);
    if (!rate.take()) return;
    const routed = routePacket({ bytes, kind, sender: participant }, room.participants.values());
    if (!routed) return;
    const peers = routed.destinations.map(({ sid }) => sid);
    room.media({ type: "send-data", peers, kind, bytes: routed.bytes });
  }

  function takeLevels(levels: TrackLevel[]): void {
    const byTrack = new Map(levels.map((level) => [level.track, level]));
    const byRoom = new Map<Room, ParticipantLevel[]>();
    for (const { room, participant } of attendances.values()) {
      const own = byRoom.get(room) ?? [];
      byRoom.set(room, own);
      for (const sid of participant.publishing.tracks.keys()) {
        const level = byTrack.get(sid);
        if (level) own.push({ ...level, participant: participant.sid });
      }
    }
    for (const [room, own] of byRoom) {
      const changed = ofRoom(room).update(own);
      if (changed.length === 0) continue;
      // Everybody who speaks, not only who changed: some clients take the list for all there are.
      const speakers = [...ofRoom(room).active(), ...changed.filter(({ active }) => !active)];
      const value = new SpeakersChanged({
        speakers: speakers.map(({ participant: sid, ...speaker }) => new SpeakerInfo({ sid, ...speaker })),
      });
      for (const participant of room.participants.values())
        participant.send({ case: "speakersChanged", value });
    }
  }

  function takeLosses(losses: TrackLoss[]): void {
    const byTrack = new Map(losses.map(({ track, lostShare }) => [track, lostShare]));
    for (const attendance of attendances.values()) {
      const shares = [...attendance.participant.publishing.tracks.keys()].flatMap(
        (sid) => byTrack.get(sid) ?? [],
      );
      if (shares.length > 0) attendance.setQuality(Math.max(...shares));
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

  function takeOfPeer(attendance: Attendance, event: OfPeer): void {
    const { room, participant } = attendance;
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
        return takeData(attendance, event);
      case "refused":
        room.log.warn({ participant: participant.identity, reason: event.reason }, "description refused");
        return room.remove(participant, {
          reason: DisconnectReason.STATE_MISMATCH,
          tell: LeaveRequest_Action.DISCONNECT,
        });
      case "full":
        room.log.warn(
          { participant: participant.identity, reason: event.reason },
          "participant must connect anew",
        );
        return room.remove(participant, {
          reason: DisconnectReason.STATE_MISMATCH,
          tell: LeaveRequest_Action.RECONNECT,
        });
      default:
        return event satisfies never;
    }
  }

  return {
    receive(event) {
      if (event.type === "levels") return takeLevels(event.levels);
      if (event.type === "losses") return takeLosses(event.losses);
      if (event.type === "problem") return undefined; // logged by the host
      const attendance = attendances.get(event.peer);
      return attendance && takeOfPeer(attendance, event);
    },
    forget({ room, participant }) {
      rates.delete(participant.sid);
      speakers.get(room)?.forget(participant.sid);
    },
  };
}
