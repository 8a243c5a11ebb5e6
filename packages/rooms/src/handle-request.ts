import {
  DisconnectReason,
  LeaveRequest_Action,
  Pong,
  RequestResponse,
  RequestResponse_Reason,
  SignalTarget,
  SubscriptionPermissionUpdate,
  TrackPublishedResponse,
  TrackUnpublishedResponse,
  type AddTrackRequest,
  type SessionDescription,
  type SubscriptionPermission,
  type TrickleRequest,
  type UpdateParticipantMetadata,
  type UpdateSubscription,
} from "@livekit/protocol";
import { DescriptionRefused, parseDescription } from "./media/sdp.ts";
import { changeProfile } from "./profile.ts";
import { mayPublish, type Participant } from "./participant.ts";
import { announceTrack, matchOffer } from "./publications.ts";
import type { Room } from "./room.ts";
import type { SignalRequestMessage } from "./signalling.ts";
import { isPermitted } from "./subscriptions.ts";

/** Does what a participant asks for. */
export function handleRequest(room: Room, participant: Participant, message: SignalRequestMessage): void {
  switch (message.case) {
    case "offer":
      return takeOffer(room, participant, message.value);
    case "answer": {
      const { id: offerId, sdp } = message.value;
      return room.media({ type: "subscriber-answer", peer: participant.sid, offerId, sdp });
    }
    case "trickle":
      return takeCandidate(room, participant, message.value);
    case "addTrack":
      return takeTrack(room, participant, message.value);
    case "mute":
      return setMuted(room, participant, message.value);
    case "subscription":
      return chooseTracks(room, participant, message.value);
    case "trackSetting":
      for (const track of message.value.trackSids)
        room.media({ type: "pause", peer: participant.sid, track, paused: message.value.disabled });
      return;
    case "subscriptionPermission":
      return setSubscriptionPermission(room, participant, message.value);
    case "updateMetadata":
      return updateOwnProfile(room, participant, message.value);
    case "updateAudioTrack": {
      const track = participant.publishing.tracks.get(message.value.trackSid);
      if (!track) return;
      track.info.audioFeatures = message.value.features;
      return room.broadcastInfo(participant);
    }
    case "leave":
      return room.remove(participant, { reason: DisconnectReason.CLIENT_INITIATED });
    case "ping":
      return participant.send({ case: "pong", value: BigInt(Date.now()) });
    case "pingReq": {
      const lastPingTimestamp = message.value.timestamp;
      const timestamp = BigInt(Date.now());
      return participant.send({ case: "pongResp", value: new Pong({ lastPingTimestamp, timestamp }) });
    }
    case "publishDataTrackRequest":
      return refuse(participant, {
        reason: RequestResponse_Reason.UNSUPPORTED_TYPE,
        message: "data tracks are not supported",
        request: { case: "publishDataTrack", value: message.value },
      });
    default:
      return; // layers, simulations and whatever newer clients say: nothing here depends on them
  }
}

function takeOffer(room: Room, participant: Participant, { sdp, id: offerId }: SessionDescription): void {
  try {
    const { sections } = parseDescription(sdp);
    const offered = matchOffer(participant, sections);
    room.media({ type: "publisher-offer", peer: participant.sid, offerId, sdp, tracks: offered.sections });
    for (const { sid, muted } of offered.published)
      if (muted) room.media({ type: "set-muted", track: sid, muted });
    for (const { sid: trackSid } of offered.unpublished) {
      room.media({ type: "unpublish", track: trackSid });
      participant.send({ case: "trackUnpublished", value: new TrackUnpublishedResponse({ trackSid }) });
    }
    if (offered.published.length + offered.unpublished.length === 0) return;
    room.broadcastInfo(participant); // before the offers that carry the tracks
    room.syncSubscriptions();
    room.broadcastRoom();
  } catch (error) {
    if (!(error instanceof DescriptionRefused)) throw error;
    room.log.warn({ participant: participant.identity, reason: error.message }, "offer refused");
    room.remove(participant, {
      reason: DisconnectReason.STATE_MISMATCH,
      tell: LeaveRequest_Action.DISCONNECT,
    });
  }
}

function takeCandidate(room: Room, participant: Participant, trickle: TrickleRequest): void {
  const side = trickle.target === SignalTarget.PUBLISHER ? "publisher" : "subscriber";
  const parsed = parseCandidate(trickle.candidateInit);
  if (parsed) room.media({ type: "candidate", peer: participant.sid, side, ...parsed });
}

function parseCandidate(json: string): { candidate: string; mid: string } | undefined {
  try {
    const { candidate, sdpMid } = JSON.parse(json) as { candidate?: unknown; sdpMid?: unknown };
    return typeof candidate === "string"
      ? { candidate, mid: typeof sdpMid === "string" ? sdpMid : "0" }
      : undefined;
  } catch {
    return undefined;
  }
}

function takeTrack(room: Room, participant: Participant, request: AddTrackRequest): void {
  const { announced, tracks } = participant.publishing;
  const refusal = { request: { case: "addTrack" as const, value: request } };
  if (!mayPublish(participant, request.source))
    return refuse(participant, {
      ...refusal,
      reason: RequestResponse_Reason.NOT_ALLOWED,
      message: "does not have permission to publish",
    });
  const max = room.settings.limits.tracksPerParticipant;
  if (announced.size + tracks.size >= max)
    return refuse(participant, {
      ...refusal,
      reason: RequestResponse_Reason.LIMIT_EXCEEDED,
      message: `at most ${max} tracks a participant`,
    });
  const track = announceTrack(participant, request);
  return participant.send({
    case: "trackPublished",
    value: new TrackPublishedResponse({ cid: request.cid, track }),
  });
}

function setMuted(
  room: Room,
  participant: Participant,
  { sid, muted }: { sid: string; muted: boolean },
): void {
  const { announced, tracks } = participant.publishing;
  const info = tracks.get(sid)?.info ?? [...announced.values()].find((track) => track.info.sid === sid)?.info;
  if (!info || info.muted === muted) return;
  info.muted = muted;
  room.media({ type: "set-muted", track: sid, muted });
  if (tracks.has(sid)) room.broadcastInfo(participant);
}

/** Subscribes to tracks that are published, or ends that; what is not there is passed over. */
export function chooseTracks(
  room: Room,
  participant: Participant,
  update: Pick<UpdateSubscription, "trackSids" | "participantTracks" | "subscribe">,
): void {
  const { choices } = participant.subscribing;
  const named = [...update.trackSids, ...update.participantTracks.flatMap(({ trackSids }) => trackSids)];
  const published = new Set(
    room.others(participant).flatMap(({ publishing }) => [...publishing.tracks.keys()]),
  );
  for (const sid of choices.keys()) if (!published.has(sid)) choices.delete(sid);
  for (const sid of named) if (published.has(sid)) choices.set(sid, update.subscribe);
  room.syncSubscriptions();
}

function setSubscriptionPermission(
  room: Room,
  publisher: Participant,
  permission: SubscriptionPermission,
): void {
  const before = new Map(room.others(publisher).map((other) => [other, permittedTracks(other, publisher)]));
  publisher.publishing.permission = permission;
  for (const [subscriber, had] of before) {
    const has = permittedTracks(subscriber, publisher);
    const changed = [...publisher.publishing.tracks.keys()].filter((sid) => had.has(sid) !== has.has(sid));
    for (const trackSid of changed) {
      const value = new SubscriptionPermissionUpdate({
        participantSid: publisher.sid,
        trackSid,
        allowed: has.has(trackSid),
      });
      subscriber.send({ case: "subscriptionPermissionUpdate", value });
    }
  }
  room.syncSubscriptions();
}

function permittedTracks(subscriber: Participant, publisher: Participant): Set<string> {
  const sids = [...publisher.publishing.tracks.keys()];
  return new Set(sids.filter((trackSid) => isPermitted(subscriber, { publisher, trackSid })));
}

function updateOwnProfile(room: Room, participant: Participant, request: UpdateParticipantMetadata): void {
  const { requestId } = request;
  const answer = (reason: RequestResponse_Reason, message = ""): void =>
    refuse(participant, { requestId, reason, message, request: { case: "updateMetadata", value: request } });
  if (!participant.permission.canUpdateMetadata)
    return answer(RequestResponse_Reason.NOT_ALLOWED, "does not have permission to update own metadata");
  if (!changeProfile(participant, request, room.settings.limits))
    return answer(RequestResponse_Reason.LIMIT_EXCEEDED, "name, metadata or attributes exceed the limits");
  room.broadcastInfo(participant);
  return answer(RequestResponse_Reason.OK);
}

function refuse(participant: Participant, response: ConstructorParameters<typeof RequestResponse>[0]): void {
  participant.send({ case: "requestResponse", value: new RequestResponse(response) });
}
