import type { Participant } from "./participant.ts";

/** A track and whose it is. */
export interface OwnedTrack {
  publisher: Participant;
  trackSid: string;
}

export interface SubscriptionChange {
  subscribe: OwnedTrack[];
  unsubscribe: string[];
}

/** The changes that give a participant exactly the tracks it should receive. */
export function planSubscriptions(
  subscriber: Participant,
  participants: Iterable<Participant>,
): SubscriptionChange {
  const wanted = new Map<string, OwnedTrack>();
  for (const publisher of participants) {
    if (publisher === subscriber || publisher.permission.hidden) continue;
    for (const trackSid of publisher.publishing.tracks.keys())
      if (isWanted(subscriber, { publisher, trackSid })) wanted.set(trackSid, { publisher, trackSid });
  }
  const { tracks, isHeld } = subscriber.subscribing;
  return {
    subscribe: isHeld ? [] : [...wanted.values()].filter(({ trackSid }) => !tracks.has(trackSid)),
    unsubscribe: [...tracks].filter((trackSid) => !wanted.has(trackSid)),
  };
}

/** Whether the publisher lets this participant have its track. */
export function isPermitted(subscriber: Participant, { publisher, trackSid }: OwnedTrack): boolean {
  const { permission } = publisher.publishing;
  if (!permission || permission.allParticipants) return true;
  return permission.trackPermissions.some(
    ({ participantSid, participantIdentity, allTracks, trackSids }) =>
      (participantIdentity === subscriber.identity || participantSid === subscriber.sid) &&
      (allTracks || trackSids.includes(trackSid)),
  );
}

function isWanted(subscriber: Participant, track: OwnedTrack): boolean {
  const chosen = subscriber.subscribing.choices.get(track.trackSid) ?? subscriber.autoSubscribe;
  return chosen && subscriber.permission.canSubscribe && isPermitted(subscriber, track);
}
