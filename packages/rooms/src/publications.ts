import { TrackInfo, TrackType, type AddTrackRequest } from "@livekit/protocol";
import { newSid } from "./ids.ts";
import type { PublishedSection } from "./media/messages.ts";
import { isSending, type Section } from "./media/sdp.ts";
import type { Participant } from "./participant.ts";

/** Notes a track its publisher is about to offer. The same announcement twice gives the same track. */
export function announceTrack({ publishing }: Participant, request: AddTrackRequest): TrackInfo {
  const known = publishing.announced.get(request.cid);
  if (known) return known.info;
  const isAudio = request.type === TrackType.AUDIO;
  const info = new TrackInfo({
    sid: newSid("TR"),
    type: request.type,
    name: request.name,
    muted: request.muted,
    width: request.width,
    height: request.height,
    source: request.source,
    layers: request.layers,
    stereo: request.stereo,
    disableDtx: request.disableDtx,
    disableRed: true, // audio travels as plain Opus
    encryption: request.encryption,
    stream: request.stream,
    mimeType: isAudio ? "audio/opus" : "",
    audioFeatures: request.audioFeatures,
  });
  publishing.announced.set(request.cid, { request, info });
  return info;
}

export interface OfferedTracks {
  /** For the media process: which section carries which track. */
  sections: PublishedSection[];
  published: TrackInfo[];
  unpublished: TrackInfo[];
}

/** Fits a publisher's offer to the tracks it announced: some begin, some have ended. */
export function matchOffer({ publishing }: Participant, sections: readonly Section[]): OfferedTracks {
  const bySection = new Map([...publishing.tracks.values()].map((track) => [track.mid, track]));
  const result: OfferedTracks = { sections: [], published: [], unpublished: [] };
  for (const section of sections) {
    if (section.kind === "application") continue;
    const current = bySection.get(section.mid);
    if (!isSending(section)) {
      if (!current) continue;
      publishing.tracks.delete(current.info.sid);
      result.unpublished.push(current.info);
      continue;
    }
    const track = current ?? begin({ publishing }, section);
    if (!track) continue;
    if (!current) result.published.push(track.info);
    result.sections.push({
      mid: section.mid,
      track: track.info.sid,
      dtx: track.dtx,
      stereo: track.info.stereo,
    });
  }
  return result;
}

function begin({ publishing }: Pick<Participant, "publishing">, section: Section) {
  const cid = announcedFor({ publishing }, section);
  const announced = cid === undefined ? undefined : publishing.announced.get(cid);
  if (cid === undefined || !announced) return undefined;
  publishing.announced.delete(cid);
  const { info, request } = announced;
  info.mid = section.mid;
  if (section.kind === "video") info.mimeType = `video/${section.codecs[0]?.name ?? "vp8"}`;
  const track = { info, mid: section.mid, dtx: !request.disableDtx, hasSubscribers: false };
  publishing.tracks.set(info.sid, track);
  return track;
}

/** By the track's name in the offer, or else, as Firefox makes names up, the first announced of its kind. */
function announcedFor({ publishing }: Pick<Participant, "publishing">, section: Section): string | undefined {
  if (section.trackId !== undefined && publishing.announced.has(section.trackId)) return section.trackId;
  const type = section.kind === "audio" ? TrackType.AUDIO : TrackType.VIDEO;
  const [first] = [...publishing.announced].find(([, { info }]) => info.type === type) ?? [];
  return first;
}
