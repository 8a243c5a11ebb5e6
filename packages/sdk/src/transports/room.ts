import { AppError } from "@vocalhost/protocol";
import type { AudioSource, Room } from "@livekit/rtc-node";
import { createPlayout, type Playout } from "../pacing/playout.ts";
import type { RoomArguments } from "../bot/runner-arguments.ts";
import {
  assembleTransport,
  type AssembledTransport,
  type TransportParts,
  type Wire,
} from "./assemble-transport.ts";
import { loadLiveKitClient, type LiveKitClient } from "./config.ts";
import { dialOut } from "./dial-out.ts";
import { roomAccessOf, type RoomAccess } from "./room-access.ts";
import { isRtvi, openRoomPeople, type RoomPeople } from "./room-people.ts";
import { waitFor } from "./wait-for.ts";
import { messageOf } from "../message-of.ts";

const OPUS_RATES_HZ = [8_000, 12_000, 16_000, 24_000, 48_000];
const BEST_RATE_HZ = 48_000;
const CHUNK_MS = 20;
const LEAD_MS = 60; // buffered on the native side, so that a short stall of this thread is not heard
const CONNECT_MS = 20_000;
const MESSAGE_MAX_BYTES = 60_000; // the server accepts 64 KiB, including its envelope

/** Creates a transport that joins a room as a participant. */
export async function createRoomTransport(
  args: RoomArguments,
  parts: TransportParts,
): Promise<AssembledTransport> {
  if (args.provider === "daily")
    throw new AppError("ROOM_NOT_JOINABLE", {
      message:
        "A bot cannot join a Daily room because Daily has no SDK for Node; use embedded or LiveKit rooms (transport 'room'), or the phone carriers.",
    });
  const { transport, start } = createConnection(args, parts, await loadLiveKitClient());
  await start();
  return transport;
}

interface RoomConnection {
  transport: AssembledTransport;
  /** Joins the room. */
  start(): Promise<void>;
}

function createConnection(
  args: RoomArguments,
  parts: TransportParts,
  livekit: LiveKitClient,
): RoomConnection {
  return new JoinedRoom(args, parts, livekit);
}

class JoinedRoom implements RoomConnection {
  readonly #args: RoomArguments;
  readonly #livekit: LiveKitClient;
  readonly #access: RoomAccess;
  readonly #room: Room;
  readonly #sound: Sound;
  readonly #send: (message: unknown) => void;
  #generation = 0;
  #isClosing = false;
  #emptyTimer: NodeJS.Timeout | undefined; // runs while no person is in the room
  readonly #playout: Playout;
  readonly #people: RoomPeople;
  readonly transport: AssembledTransport;

  constructor(args: RoomArguments, parts: TransportParts, livekit: LiveKitClient) {
    this.#args = args;
    this.#livekit = livekit;
    this.#access = roomAccessOf(args);
    this.#room = new livekit.Room();
    this.#sound = createSound(livekit, parts.outputHz);
    this.#send = createSender(this.#room, parts.hooks.log);
    this.#playout = createPlayout({
      sampleRateHz: parts.outputHz,
      wireHz: this.#sound.rateHz,
      chunkMs: CHUNK_MS,
      leadMs: LEAD_MS,
      maxQueuedMs: parts.maxQueuedOutMs,
      send: (chunk) => chunk && this.#sound.play(chunk),
      progress: () => this.transport.inner.audioOut.played(this.#generation, this.#playout.playedSamples),
      speaking: (speaking) => this.transport.inner.audioOut.speaking(speaking),
      onError: (error) => parts.hooks.failed(error),
    });
    this.#people = openRoomPeople({
      livekit,
      room: this.#room,
      parts,
      invitations: this.#access.invitations,
      dial: (to, options) => dialOut({ ...args, sipTrunk: this.#access.sipTrunk }, to, options),
      hear: (samples, sampleRateHz) => this.transport.inner.audioIn.push(samples, sampleRateHz),
      receive: (message) => {
        if (!this.#access.isStandIn || !isRtvi(message)) this.transport.inner.receive(message);
      },
      met: (hasPerson) => {
        clearTimeout(this.#emptyTimer);
        this.transport.inner.emit(hasPerson ? "client-connected" : "client-disconnected");
        if (hasPerson) parts.hooks.connected();
        // A client that reconnects leaves and joins again, as does a reloaded page.
        else if (!parts.stay)
          this.#emptyTimer = setTimeout(() => parts.hooks.ended("client-left"), parts.departureTimeoutMs);
      },
    });
    this.transport = assembleTransport(args, parts, this.#createWire());
    this.#room.on(livekit.RoomEvent.Disconnected, () => {
      if (!this.#isClosing) parts.hooks.ended("client-lost"); // the room was closed, or its server is gone for good
    });
    if (this.#access.connectDeadlineMs !== undefined)
      this.#emptyTimer = setTimeout(
        () => parts.hooks.ended("never-connected"),
        this.#access.connectDeadlineMs,
      );
  }

  #createWire(): Wire {
    return {
      room: this.#people.side(this.#args.roomName),
      play: (samples) => void this.#playout.write(samples),
      clear: (next) => {
        this.#generation = next;
        this.#playout.clear();
        this.#sound.clear();
      },
      pause: (paused) => this.#playout.pause(paused),
      send: (message) => {
        if (!this.#access.isStandIn || !isRtvi(message)) this.#send(message);
      },
      close: async () => {
        this.#isClosing = true;
        clearTimeout(this.#emptyTimer);
        this.#playout.stop();
        this.#people.close();
        await this.#sound.close();
        await this.#room.disconnect();
      },
    };
  }

  readonly start: RoomConnection["start"] = async () => {
    try {
      await join(this.#livekit, { room: this.#room, args: this.#args, source: this.#sound.source });
    } catch (error) {
      await this.transport.close();
      throw error;
    }
    this.#people.greet();
    this.#playout.start();
  };
}

interface Joining {
  room: Room;
  args: RoomArguments;
  source: AudioSource;
}

// Clients speak only once the bot's track is there, so it is published at once, silent.
async function join(livekit: LiveKitClient, { room, args, source }: Joining): Promise<void> {
  const options = { autoSubscribe: true, dynacast: false };
  const { signal } = args;
  const wait = { what: "the room", signal, timeoutMs: CONNECT_MS };
  await waitFor(room.connect(args.roomUrl, args.token, options), wait);
  const track = livekit.LocalAudioTrack.createAudioTrack("bot", source);
  const publish = new livekit.TrackPublishOptions();
  publish.source = livekit.TrackSource.SOURCE_MICROPHONE;
  const self = room.localParticipant;
  if (!self) throw new Error("The room was closed while the bot was joining");
  await waitFor(self.publishTrack(track, publish), wait);
}

/** The bot's audio track in LiveKit's terms. */
interface Sound {
  readonly source: AudioSource;
  /** Sample rate of the track. */
  readonly rateHz: number;
  play(samples: Int16Array): void;
  clear(): void;
  close(): Promise<void>;
}

function createSound(livekit: LiveKitClient, outputHz: number): Sound {
  const rateHz = OPUS_RATES_HZ.includes(outputHz) ? outputHz : BEST_RATE_HZ;
  const source = new livekit.AudioSource(rateHz, 1);
  let isOpen = true;
  return {
    source,
    rateHz,
    play(samples) {
      if (!isOpen || samples.length === 0) return;
      const frame = new livekit.AudioFrame(samples.slice(), rateHz, 1, samples.length);
      source.captureFrame(frame).catch(() => undefined); // the source was closed meanwhile
    },
    clear: () => source.clearQueue(),
    async close() {
      isOpen = false;
      await source.close();
    },
  };
}

/** Sends messages one at a time, in the bot's order. */
function createSender(room: Room, log: TransportParts["hooks"]["log"]): (message: unknown) => void {
  let before = Promise.resolve();
  return (message) => {
    const bytes = new TextEncoder().encode(JSON.stringify(message));
    if (bytes.length > MESSAGE_MAX_BYTES)
      return log.warn({ bytes: bytes.length, maxBytes: MESSAGE_MAX_BYTES }, "message too large, not sent");
    before = before
      .then(() => room.localParticipant?.publishData(bytes, { reliable: true }))
      .catch((error: unknown) => log.debug({ reason: messageOf(error) }, "message not sent"));
  };
}
