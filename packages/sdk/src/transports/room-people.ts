import { FRAME_MS } from "@vocalhost/audio";
import { RTVI_LABEL } from "@vocalhost/protocol";
import type { AudioFrame, AudioStream, RemoteParticipant, RemoteTrack, Room } from "@livekit/rtc-node";
import { createListeners } from "../listeners.ts";
import type { TransportParts } from "./assemble-transport.ts";
import { createAudioInput, type AudioInputSource } from "./audio-input.ts";
import type { LiveKitClient } from "./config.ts";
import type { Invitations } from "./room-access.ts";
import { createRoomMixer } from "./room-mixer.ts";
import type { RoomParticipant, RoomSide, RoomSideEvents } from "./transport.ts";

/** Those who are in a room with the bot: who they are and what they say. */
export interface RoomPeople {
  side(roomName: string): RoomSide;
  /** Call once joined: those who were there before count too. */
  greet(): void;
  close(): void;
}

export interface RoomPeopleOptions {
  livekit: LiveKitClient;
  room: Room;
  parts: TransportParts;
  invitations: Invitations;
  dial: RoomSide["dial"];
  hear(samples: Int16Array, sampleRateHz: number): void;
  receive(message: unknown): void;
  /** The first person came, or the last one left. */
  met(isSomebodyThere: boolean): void;
}

interface Known extends RoomParticipant {
  ear: AudioInputSource | undefined;
}

export function openRoomPeople(options: RoomPeopleOptions): RoomPeople {
  const { livekit, room, parts, hear } = options;
  const { RoomEvent, TrackKind, ParticipantKind } = livekit;
  const { hooks, inputHz } = parts;
  const listeners = createListeners<RoomSideEvents>();
  const known = new Map<string, Known>();
  const streams = new Map<RemoteTrack, ReadableStreamDefaultReader<AudioFrame>>();
  const mixer = createRoomMixer({ sampleRateHz: inputHz, mixed: (samples) => hear(samples, inputHz) });
  let isSomebodyThere = false;

  const isBot = (participant: RemoteParticipant): boolean => participant.kind === ParticipantKind.AGENT;

  // A second bot is heard by whoever asks for it; two that hear each other would talk for ever.
  function isHeard(person: Known): boolean {
    const { hear: whom } = parts;
    if (typeof whom === "object") return person.identity === whom.only;
    return whom === "all" || !person.isBot;
  }

  function knownOf(participant: RemoteParticipant): Known {
    const { identity } = participant;
    const before = known.get(identity);
    if (before) return before;
    const ear =
      parts.hear === "each"
        ? createAudioInput({ sampleRateHz: inputHz, maxQueuedMs: parts.maxQueuedInMs, filter: undefined })
        : undefined;
    const person: Known = {
      identity,
      isBot: isBot(participant),
      get name() {
        return participant.name ?? "";
      },
      get attributes() {
        return participant.attributes;
      },
      audioIn: ear?.input,
      ear,
    };
    known.set(identity, person);
    listeners.emit("participant-joined", person);
    look();
    return person;
  }

  function left(participant: RemoteParticipant): void {
    const person = known.get(participant.identity);
    if (!person) return;
    known.delete(participant.identity);
    mixer.remove(participant.identity);
    person.ear?.end();
    listeners.emit("participant-left", person);
    look();
  }

  function look(): void {
    const now = [...known.values()].some((person) => !person.isBot);
    if (now === isSomebodyThere) return;
    isSomebodyThere = now;
    options.met(now);
  }

  async function listen(track: RemoteTrack, participant: RemoteParticipant): Promise<void> {
    const person = knownOf(participant);
    if (!isHeard(person) && !person.ear) return;
    const filter = person.ear && (await parts.openFilter());
    const format = { sampleRate: inputHz, numChannels: 1, frameSizeMs: FRAME_MS };
    const stream: AudioStream = new livekit.AudioStream(track, format);
    const reader = (stream as unknown as ReadableStream<AudioFrame>).getReader();
    streams.set(track, reader);
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { data } = next.value;
      if (isHeard(person)) mixer.push(person.identity, data);
      person.ear?.push(filter ? filter.process(data) : data, inputHz);
    }
    await filter?.dispose();
  }

  function unheard(track: RemoteTrack, identity: string): void {
    mixer.remove(identity);
    void streams
      .get(track)
      ?.cancel()
      .catch(() => undefined);
    streams.delete(track);
  }

  function received(payload: Uint8Array, participant: RemoteParticipant | undefined): void {
    const message = parseMessage(payload);
    if (message === undefined) return;
    // What another bot tells its clients is not said to us.
    if (participant && isBot(participant) && isRtvi(message)) return;
    options.receive(message);
  }

  // Called from native code's events: what a bot's listener throws ends its own session only.
  const guarded =
    <A extends unknown[]>(run: (...args: A) => void) =>
    (...args: A): void => {
      try {
        run(...args);
      } catch (error) {
        hooks.failed(error);
      }
    };

  room.on(RoomEvent.ParticipantConnected, guarded(knownOf));
  room.on(RoomEvent.ParticipantDisconnected, guarded(left));
  room.on(RoomEvent.TrackMuted, (_publication, { identity }) => mixer.remove(identity));
  room.on(
    RoomEvent.TrackSubscribed,
    guarded((track: RemoteTrack, _publication: unknown, participant: RemoteParticipant) => {
      if (track.kind === TrackKind.KIND_AUDIO) listen(track, participant).catch(hooks.failed);
    }),
  );
  room.on(
    RoomEvent.TrackUnsubscribed,
    guarded((track: RemoteTrack, _publication: unknown, { identity }: RemoteParticipant) =>
      unheard(track, identity),
    ),
  );
  room.on(
    RoomEvent.DataReceived,
    guarded((payload: Uint8Array, participant?: RemoteParticipant) => received(payload, participant)),
  );

  return {
    side: (name) => ({
      name,
      get participants() {
        return [...known.values()];
      },
      on: listeners.on,
      off: listeners.off,
      invite: () => options.invitations.next(),
      dial: options.dial,
    }),
    greet: guarded(() => {
      for (const participant of room.remoteParticipants.values()) knownOf(participant);
    }),
    close() {
      for (const reader of streams.values()) void reader.cancel().catch(() => undefined);
      streams.clear();
      for (const { ear } of known.values()) ear?.end();
    },
  };
}

export function isRtvi(message: unknown): boolean {
  return (
    typeof message === "object" && message !== null && "label" in message && message.label === RTVI_LABEL
  );
}

/** Anybody in the room can send anything; what is no JSON is nobody's message. */
function parseMessage(payload: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(payload)) as unknown;
  } catch {
    return undefined;
  }
}
