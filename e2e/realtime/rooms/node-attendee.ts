import {
  AudioFrame,
  AudioSource,
  AudioStream,
  DisconnectReason,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackPublishOptions,
  TrackSource,
  DataPacketKind,
  TrackKind,
  type RemoteParticipant,
} from "@livekit/rtc-node";
import { within } from "../../../testing/wait.ts";
import { measureTone } from "../../conformance/tone.ts";
import type { Attendee, AttendeeEvent, Message } from "./attendee.ts";

export interface NodeAttendee extends Attendee {
  readonly room: Room;
}

export interface NodeAttendeeOptions {
  url: string;
  token: string;
  identity: string;
  toneHz: number;
}

const DISCONNECTED: string = RoomEvent.Disconnected;
const SAMPLE_RATE_HZ = 24_000;
const FRAME_SAMPLES = SAMPLE_RATE_HZ / 100;
const MOMENT_SAMPLES = SAMPLE_RATE_HZ / 5;
const LOUDNESS = 8_000;
const JOIN_MS = 15_000;
const QUIET_EVENTS = new Set<string>([RoomEvent.ActiveSpeakersChanged, RoomEvent.ConnectionQualityChanged]);

/** The released `@livekit/rtc-node`, as bots use it. */
export async function joinFromNode(options: NodeAttendeeOptions): Promise<NodeAttendee> {
  const room = new Room();
  const events: AttendeeEvent[] = [];
  const messages: Message[] = [];
  const heard = new Map<string, Float32Array>();
  let left = false;
  let speaking = new Set<string>();

  for (const name of Object.values(RoomEvent) as string[]) {
    if (QUIET_EVENTS.has(name)) continue;
    room.on(name as RoomEvent.Moved, (...args: unknown[]) => {
      events.push({ name, about: aboutOf(name, args) });
    });
  }
  room.on(RoomEvent.TrackSubscribed, (subscribed, _publication, participant) => {
    if (subscribed.kind !== TrackKind.KIND_AUDIO) return;
    void listen(new AudioStream(subscribed, SAMPLE_RATE_HZ, 1), participant);
  });
  room.on(RoomEvent.ActiveSpeakersChanged, (speakers) => {
    // From a LiveKit server, this client only learns which participant changed.
    const named = speakers.map(({ identity }) => identity);
    speaking = named.length === 0 ? new Set() : new Set([...speaking, ...named]);
  });
  room.on(
    RoomEvent.DataReceived,
    (payload: Uint8Array, participant?: RemoteParticipant, kind?: DataPacketKind, topic?: string) => {
      messages.push({
        from: participant?.identity ?? "",
        text: new TextDecoder().decode(payload),
        topic: topic ?? "",
        reliable: kind === undefined ? undefined : kind === DataPacketKind.KIND_RELIABLE,
      });
    },
  );

  async function listen(stream: AudioStream, { identity }: RemoteParticipant): Promise<void> {
    for await (const frame of stream as unknown as AsyncIterable<AudioFrame>) {
      const before = heard.get(identity) ?? new Float32Array(MOMENT_SAMPLES);
      const samples = Float32Array.from(frame.data, (sample) => sample / 32_768);
      const now = new Float32Array(MOMENT_SAMPLES);
      now.set(before.subarray(samples.length));
      now.set(samples, MOMENT_SAMPLES - samples.length);
      heard.set(identity, now);
    }
  }

  async function playTone(source: AudioSource): Promise<void> {
    for (let at = 0; !left;) {
      const data = new Int16Array(FRAME_SAMPLES);
      for (let index = 0; index < FRAME_SAMPLES; index += 1, at += 1)
        data[index] = LOUDNESS * Math.sin((2 * Math.PI * options.toneHz * at) / SAMPLE_RATE_HZ);
      await source.captureFrame(new AudioFrame(data, SAMPLE_RATE_HZ, 1, FRAME_SAMPLES));
    }
  }

  // It waits for ever when its own set-up was starved.
  const joined = room.connect(options.url, options.token, { autoSubscribe: true, dynacast: false });
  await within(joined, JOIN_MS, `join of ${options.identity}`);
  const self = (): NonNullable<typeof room.localParticipant> => {
    if (!room.localParticipant) throw new Error("not in a room");
    return room.localParticipant;
  };
  return {
    room,
    identity: options.identity,
    toneHz: options.toneHz,
    async speak() {
      const microphone = new AudioSource(SAMPLE_RATE_HZ, 1);
      const track = LocalAudioTrack.createAudioTrack("microphone", microphone);
      const publish = new TrackPublishOptions();
      publish.source = TrackSource.SOURCE_MICROPHONE;
      const publication = await self().publishTrack(track, publish);
      void playTone(microphone).catch(() => undefined); // it ends with the room
      return publication.sid ?? "";
    },
    hear: async (identity) =>
      measureTone({
        samples: heard.get(identity) ?? new Float32Array(MOMENT_SAMPLES),
        sampleRateHz: SAMPLE_RATE_HZ,
      }),
    send: (text, { reliable, topic, to }) =>
      self().publishData(new TextEncoder().encode(text), {
        reliable,
        ...(topic ? { topic } : {}),
        ...(to ? { destination_identities: to } : {}),
      }),
    sendBytes: (size) =>
      self()
        .publishData(new Uint8Array(size), { reliable: true })
        .then(
          () => "sent" as const,
          () => "refused" as const,
        ),
    messages: async () => [...messages],
    events: async () => [...events],
    others: async () =>
      [...room.remoteParticipants.values()].map((participant) => ({
        identity: participant.identity,
        sid: participant.sid ?? "",
        metadata: participant.metadata,
        attributes: { ...participant.attributes },
        tracks: [...participant.trackPublications.values()].map(({ sid, muted, subscribed }) => ({
          sid: sid ?? "",
          muted: muted ?? false,
          subscribed,
        })),
      })),
    speakers: async () => [...speaking],
    ownSid: async () => self().sid ?? "",
    setAttribute: (name, value) => self().setAttributes({ [name]: value }),
    async leave() {
      left = true;
      await room.disconnect();
    },
  };
}

function aboutOf(name: string, args: unknown[]): string | undefined {
  if (name === DISCONNECTED) return DisconnectReason[args[0] as DisconnectReason];
  const participant = args.find((arg) => arg !== null && typeof arg === "object" && "identity" in arg);
  return (participant as { identity: string } | undefined)?.identity;
}
