import { FRAME_MS } from "@vocalhost/audio";
import { RTVI_LABEL } from "@vocalhost/protocol";
import type { AudioFrame, AudioStream, RemoteParticipant, RemoteTrack, Room } from "@livekit/rtc-node";
import { createListeners } from "../listeners.ts";
import type { TransportParts } from "./assemble-transport.ts";
import { createAudioInput, type AudioInputSource } from "./audio-input.ts";
import type { LiveKitClient } from "./config.ts";
import type { Invitations } from "./room-access.ts";
import { createRoomMixer, type RoomMixer } from "./room-mixer.ts";
import type { RoomParticipant, RoomSide, RoomSideEvents } from "./transport.ts";

/** The other participants of the bot's room and their audio. */
export interface RoomPeople {
  side(roomName: string): RoomSide;
  /** Announces participants who were there before. Call it once joined. */
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
  /** Called when the first person has joined, and when the last one has left. */
  met(hasPerson: boolean): void;
}

interface Known extends RoomParticipant {
  ownInput: AudioInputSource | undefined;
}

export function openRoomPeople(options: RoomPeopleOptions): RoomPeople {
  return new ListenedPeople(options);
}

class ListenedPeople implements RoomPeople {
  readonly #options: RoomPeopleOptions;
  readonly #inputHz: number;
  readonly #listeners = createListeners<RoomSideEvents>();
  readonly #known = new Map<string, Known>();
  readonly #streams = new Map<RemoteTrack, ReadableStreamDefaultReader<AudioFrame>>();
  readonly #mixer: RoomMixer;
  #hasPerson = false;
  readonly #isBot = (participant: RemoteParticipant): boolean =>
    participant.kind === this.#options.livekit.ParticipantKind.AGENT;
  // These run in events of native code: an exception of a bot's listener must end its own session only.
  readonly #guarded =
    <A extends unknown[]>(run: (...args: A) => void) =>
    (...args: A): void => {
      try {
        run(...args);
      } catch (error) {
        this.#options.parts.hooks.failed(error);
      }
    };
  readonly greet: RoomPeople["greet"] = this.#guarded(() => {
    for (const participant of this.#options.room.remoteParticipants.values()) this.#knownOf(participant);
  });

  constructor(options: RoomPeopleOptions) {
    this.#options = options;
    this.#inputHz = options.parts.inputHz;
    this.#mixer = createRoomMixer({
      sampleRateHz: this.#inputHz,
      mixed: (samples) => options.hear(samples, this.#inputHz),
    });
    options.room.on(this.#options.livekit.RoomEvent.ParticipantConnected, this.#guarded(this.#knownOf));
    options.room.on(this.#options.livekit.RoomEvent.ParticipantDisconnected, this.#guarded(this.#left));
    options.room.on(this.#options.livekit.RoomEvent.TrackMuted, (_publication, { identity }) =>
      this.#mixer.remove(identity),
    );
    options.room.on(
      this.#options.livekit.RoomEvent.TrackSubscribed,
      this.#guarded((track: RemoteTrack, _publication: unknown, participant: RemoteParticipant) => {
        if (track.kind === this.#options.livekit.TrackKind.KIND_AUDIO)
          this.#listen(track, participant).catch(this.#options.parts.hooks.failed);
      }),
    );
    options.room.on(
      this.#options.livekit.RoomEvent.TrackUnsubscribed,
      this.#guarded((track: RemoteTrack, _publication: unknown, { identity }: RemoteParticipant) =>
        this.#unheard(track, identity),
      ),
    );
    options.room.on(
      this.#options.livekit.RoomEvent.DataReceived,
      this.#guarded((payload: Uint8Array, participant?: RemoteParticipant) =>
        this.#received(payload, participant),
      ),
    );
  }

  side(name: string): RoomSide {
    const people = this.#known;
    return {
      name,
      get participants() {
        return [...people.values()];
      },
      on: this.#listeners.on,
      off: this.#listeners.off,
      invite: () => this.#options.invitations.next(),
      dial: this.#options.dial,
    };
  }

  close(): void {
    for (const reader of this.#streams.values()) void reader.cancel().catch(() => undefined);
    this.#streams.clear();
    for (const { ownInput } of this.#known.values()) ownInput?.end();
  }

  // Another bot is heard only on request, since two bots that hear each other would talk forever.
  #isHeard(person: Known): boolean {
    const { hear: whom } = this.#options.parts;
    if (typeof whom === "object") return person.identity === whom.only;
    return whom === "all" || !person.isBot;
  }

  readonly #knownOf = (participant: RemoteParticipant): Known => {
    const { identity } = participant;
    const before = this.#known.get(identity);
    if (before) return before;
    const ownInput =
      this.#options.parts.hear === "each"
        ? createAudioInput({
            sampleRateHz: this.#inputHz,
            maxQueuedMs: this.#options.parts.maxQueuedInMs,
            filter: undefined,
          })
        : undefined;
    const person: Known = {
      identity,
      isBot: this.#isBot(participant),
      get name() {
        return participant.name ?? "";
      },
      get attributes() {
        return participant.attributes;
      },
      audioIn: ownInput?.input,
      ownInput,
    };
    this.#known.set(identity, person);
    this.#listeners.emit("participant-joined", person);
    this.#look();
    return person;
  };

  readonly #left = (participant: RemoteParticipant): void => {
    const person = this.#known.get(participant.identity);
    if (!person) return;
    this.#known.delete(participant.identity);
    this.#mixer.remove(participant.identity);
    person.ownInput?.end();
    this.#listeners.emit("participant-left", person);
    this.#look();
  };

  #look(): void {
    const now = [...this.#known.values()].some((person) => !person.isBot);
    if (now === this.#hasPerson) return;
    this.#hasPerson = now;
    this.#options.met(now);
  }

  async #listen(track: RemoteTrack, participant: RemoteParticipant): Promise<void> {
    const person = this.#knownOf(participant);
    if (!this.#isHeard(person) && !person.ownInput) return;
    const filter = person.ownInput && (await this.#options.parts.openFilter());
    const format = { sampleRate: this.#inputHz, numChannels: 1, frameSizeMs: FRAME_MS };
    const stream: AudioStream = new this.#options.livekit.AudioStream(track, format);
    const reader = (stream as unknown as ReadableStream<AudioFrame>).getReader();
    this.#streams.set(track, reader);
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { data } = next.value;
      if (this.#isHeard(person)) this.#mixer.push(person.identity, data);
      person.ownInput?.push(filter ? filter.process(data) : data, this.#inputHz);
    }
    await filter?.dispose();
  }

  #unheard(track: RemoteTrack, identity: string): void {
    this.#mixer.remove(identity);
    void this.#streams
      .get(track)
      ?.cancel()
      .catch(() => undefined);
    this.#streams.delete(track);
  }

  #received(payload: Uint8Array, participant: RemoteParticipant | undefined): void {
    const message = parseMessage(payload);
    if (message === undefined) return;
    // RTVI messages of another bot are meant for its clients.
    if (participant && this.#isBot(participant) && isRtvi(message)) return;
    this.#options.receive(message);
  }
}

export function isRtvi(message: unknown): boolean {
  return (
    typeof message === "object" && message !== null && "label" in message && message.label === RTVI_LABEL
  );
}

/** Any participant can send anything; payloads that are not JSON are ignored. */
function parseMessage(payload: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(payload)) as unknown;
  } catch {
    return undefined;
  }
}
