import {
  DataPacket_Kind,
  DisconnectReason,
  Room,
  RoomEvent,
  Track,
  type RemoteParticipant,
  type RemoteTrack,
} from "livekit-client";
import { measureTone, type Tone } from "../../../conformance/tone.ts";
import type { AttendeeEvent, Message, OtherParticipant, SendOptions } from "../attendee.ts";

/** The interface of the page for tests: one room of the released client. */
export interface RoomPage {
  join(url: string, token: string): Promise<void>;
  readonly room: Room;
  readonly events: AttendeeEvent[];
  readonly messages: Message[];
  speak(): Promise<string>;
  showVideo(simulcast: boolean): Promise<string>;
  /** Withdraws the camera's track. */
  endVideo(): Promise<void>;
  /** Encodings of the camera's picture that have left so far. */
  layersSent(): Promise<number>;
  hear(identity: string): Tone;
  send(text: string, options: SendOptions): Promise<void>;
  others(): OtherParticipant[];
  /** Frames of a participant's video decoded so far. */
  framesDecoded(identity: string): Promise<number>;
}

declare global {
  interface Window {
    roomPage: RoomPage;
  }
}

const DISCONNECTED: string = RoomEvent.Disconnected;
const PATIENCE_MS = 90_000; // a starved machine is no refusal
const SAMPLE_RATE_HZ = 24_000;
const MOMENT_SAMPLES = 4_800;
const ANALYSER_SAMPLES = 8_192;
const QUIET_EVENTS = new Set<string>([RoomEvent.ActiveSpeakersChanged, RoomEvent.ConnectionQualityChanged]);

const room = new Room({ adaptiveStream: false, dynacast: false });
const events: AttendeeEvent[] = [];
const messages: Message[] = [];
const analysers = new Map<string, AnalyserNode>();
const context = new AudioContext({ sampleRate: SAMPLE_RATE_HZ });

for (const name of Object.values(RoomEvent)) {
  if (QUIET_EVENTS.has(name)) continue;
  room.on(name, (...args: unknown[]) => void events.push({ name, about: aboutOf(name, args) }));
}
room.on(RoomEvent.TrackSubscribed, (track, _publication, participant) => listen(track, participant));
room.on(RoomEvent.DataReceived, (payload, participant, kind, topic) => {
  messages.push({
    from: participant?.identity ?? "",
    text: new TextDecoder().decode(payload),
    topic: topic ?? "",
    reliable: kind === undefined ? undefined : kind === DataPacket_Kind.RELIABLE,
  });
});

function listen(track: RemoteTrack, participant: RemoteParticipant): void {
  if (track.kind === Track.Kind.Video) {
    document.body.append(track.attach()); // decoded only when shown
    return;
  }
  const stream = new MediaStream([track.mediaStreamTrack]);
  const element = new Audio(); // Chromium decodes a remote track only when an element plays it
  element.muted = true;
  element.srcObject = stream;
  void element.play();
  const analyser = new AnalyserNode(context, { fftSize: ANALYSER_SAMPLES });
  new MediaStreamAudioSourceNode(context, { mediaStream: stream }).connect(analyser);
  analysers.set(participant.identity, analyser);
}

window.roomPage = {
  room,
  events,
  messages,
  join: (url, token) =>
    room.connect(url, token, { peerConnectionTimeout: PATIENCE_MS, websocketTimeout: PATIENCE_MS }),
  async speak() {
    const publication = await room.localParticipant.setMicrophoneEnabled(
      true,
      { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
      { stopMicTrackOnMute: false },
    );
    return publication?.trackSid ?? "";
  },
  async showVideo(simulcast) {
    const how = simulcast ? undefined : { simulcast };
    const publication = await room.localParticipant.setCameraEnabled(true, undefined, how);
    return publication?.trackSid ?? "";
  },
  async endVideo() {
    const track = room.localParticipant.getTrackPublication(Track.Source.Camera)?.track;
    if (track) await room.localParticipant.unpublishTrack(track);
  },
  async layersSent() {
    const report = await room.localParticipant
      .getTrackPublication(Track.Source.Camera)
      ?.track?.getRTCStatsReport();
    const stats = [...(report?.values() ?? [])] as { type: string; packetsSent?: number }[];
    return stats.filter(({ type, packetsSent }) => type === "outbound-rtp" && (packetsSent ?? 0) > 0).length;
  },
  hear(identity) {
    const analyser = analysers.get(identity);
    const samples = new Float32Array(ANALYSER_SAMPLES);
    analyser?.getFloatTimeDomainData(samples);
    return measureTone({ samples: samples.slice(-MOMENT_SAMPLES), sampleRateHz: SAMPLE_RATE_HZ });
  },
  send: (text, { reliable, topic, to }) =>
    room.localParticipant.publishData(new TextEncoder().encode(text), {
      reliable,
      ...(topic ? { topic } : {}),
      ...(to ? { destinationIdentities: to } : {}),
    }),
  others: () =>
    [...room.remoteParticipants.values()].map(
      ({ identity, sid, metadata, attributes, trackPublications }) => ({
        identity,
        sid,
        metadata: metadata ?? "",
        attributes: { ...attributes },
        tracks: [...trackPublications.values()].map(({ trackSid, isMuted, isSubscribed }) => ({
          sid: trackSid,
          muted: isMuted,
          subscribed: isSubscribed,
        })),
      }),
    ),
  async framesDecoded(identity) {
    const participant = room.remoteParticipants.get(identity);
    const [publication] = participant?.videoTrackPublications.values() ?? [];
    const report = await publication?.videoTrack?.getRTCStatsReport();
    const stats = [...(report?.values() ?? [])] as { type: string; framesDecoded?: number }[];
    return stats.find(({ type }) => type === "inbound-rtp")?.framesDecoded ?? 0;
  },
};

function aboutOf(name: string, args: unknown[]): string | undefined {
  if (name === DISCONNECTED) return DisconnectReason[args[0] as DisconnectReason];
  const participant = args.find((arg) => arg !== null && typeof arg === "object" && "identity" in arg);
  return (participant as { identity: string } | undefined)?.identity;
}
