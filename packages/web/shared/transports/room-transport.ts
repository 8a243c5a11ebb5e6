import { RTVIMessage, Transport, type PipecatClientOptions, type Tracks } from "@pipecat-ai/client-js";
import {
  ConnectionState,
  ParticipantEvent,
  Room,
  RoomEvent,
  Track,
  type LocalTrackPublication,
  type RemoteParticipant,
  type RemoteTrack,
} from "livekit-client";
import type { Link, LinkOptions } from "../connection/link.ts";
import type { Attendee } from "../events/connection-event.ts";
import { fromPeerStats, type LinkSample, type PeerStat } from "../figures/link-figures.ts";
import type { MicrophoneMedia } from "../media/microphone-media.ts";
import { PeerMedia } from "../media/peer-media.ts";

/** Where a room is and what lets us in. */
interface RoomPlace {
  url: string;
  token: string;
}

const RTVI_LABEL = "rtvi-ai";
const BOT_WAIT_MS = 18_000; // it starts with the room and loads what it needs

/** A conversation in a LiveKit room, with a bot and other participants. */
class RoomTransport extends Transport {
  // Every server knows two connections; asking for one first costs a way there and back, and leaves an error in the
  // console where the server is ours.
  readonly room = new Room({ adaptiveStream: false, dynacast: false, singlePeerConnection: false });
  readonly #media: MicrophoneMedia;
  readonly #onAttendees: (attendees: Attendee[]) => void;
  readonly #botHere = Promise.withResolvers<void>();
  #publication: LocalTrackPublication | undefined;

  constructor(media: MicrophoneMedia, onAttendees: (attendees: Attendee[]) => void) {
    super();
    this.#media = media;
    this.#onAttendees = onAttendees;
    this._maxMessageSize = 60_000;
    this.#listen();
  }

  override initialize(options: PipecatClientOptions, onMessage: (message: RTVIMessage) => void): void {
    this._options = options;
    this._callbacks = options.callbacks ?? {};
    this._onMessage = onMessage;
    this.#media.setClientOptions(options);
    this.state = "disconnected";
  }

  override async initDevices(): Promise<void> {
    this.state = "initializing";
    await this.#media.initialize();
    this.state = "initialized";
  }

  override _validateConnectionParams(params?: unknown): RoomPlace {
    const { url, token } = (params ?? {}) as Partial<RoomPlace>;
    if (typeof url === "string" && typeof token === "string") return { url, token };
    throw new Error("The start answer names no room");
  }

  override async _connect(params?: unknown): Promise<void> {
    const { url, token } = this._validateConnectionParams(params);
    this.state = "connecting";
    await this.room.connect(url, token);
    await this.sendMicrophone();
    const late = setTimeout(() => this.#botHere.reject(new Error("No bot came into the room")), BOT_WAIT_MS);
    await this.#botHere.promise.finally(() => clearTimeout(late));
    if (this._abortController?.signal.aborted) return;
    this.state = "connected";
    this._callbacks.onConnected?.();
  }

  override async _disconnect(): Promise<void> {
    this.state = "disconnecting";
    await this.room.disconnect();
    await this.#media.disconnect();
    this.state = "disconnected";
    this._callbacks.onDisconnected?.();
  }

  override sendReadyMessage(): void {
    this.state = "ready";
    this.sendMessage(RTVIMessage.clientReady());
  }

  override sendMessage(message: RTVIMessage): void {
    const bytes = new TextEncoder().encode(JSON.stringify(message));
    void this.room.localParticipant.publishData(bytes, { reliable: true }).catch(() => {}); // its end is told apart
  }

  /** Publishes the microphone, or what it was replaced with. */
  async sendMicrophone(): Promise<void> {
    const track = this.#media.microphone.copy();
    if (!track) return;
    const { track: published } = this.#publication ?? {};
    if (published && "replaceTrack" in published) return void (await published.replaceTrack(track, true));
    this.#publication = await this.room.localParticipant.publishTrack(track, {
      source: Track.Source.Microphone,
      name: "microphone",
    });
  }

  override get state(): Transport["_state"] {
    return this._state;
  }

  override set state(state: Transport["_state"]) {
    if (this._state === state) return;
    this._state = state;
    this._callbacks.onTransportStateChanged?.(state);
  }

  override getAllMics(): Promise<MediaDeviceInfo[]> {
    return this.#media.getAllMics();
  }
  override getAllCams(): Promise<MediaDeviceInfo[]> {
    return this.#media.getAllCams();
  }
  override getAllSpeakers(): Promise<MediaDeviceInfo[]> {
    return this.#media.getAllSpeakers();
  }
  override updateMic(id: string): void {
    void this.#media.updateMic(id);
  }
  override updateCam(): void {}
  override updateSpeaker(id: string): void {
    this.#media.updateSpeaker(id);
  }
  override get selectedMic(): MediaDeviceInfo | Record<string, never> {
    return this.#media.selectedMic;
  }
  override get selectedCam(): Record<string, never> {
    return {};
  }
  override get selectedSpeaker(): MediaDeviceInfo | Record<string, never> {
    return this.#media.selectedSpeaker;
  }
  override enableMic(enable: boolean): void {
    this.#media.enableMic(enable);
  }
  override enableCam(): void {}
  override enableScreenShare(): void {}
  override get isMicEnabled(): boolean {
    return this.#media.isMicEnabled;
  }
  override get isCamEnabled(): boolean {
    return false;
  }
  override get isSharingScreen(): boolean {
    return false;
  }
  override tracks(): Tracks {
    return this.#media.tracks();
  }

  #listen(): void {
    const { room } = this;
    room.on(RoomEvent.TrackSubscribed, (track, _publication, from) => this.#hear(track, from));
    room.on(RoomEvent.TrackUnsubscribed, (track) => track.detach().forEach((element) => element.remove()));
    room.on(RoomEvent.DataReceived, (payload) => this.#receive(payload));
    room.on(RoomEvent.ParticipantDisconnected, (participant) => {
      if (participant.isAgent) this._callbacks.onBotDisconnected?.(toParticipant(participant));
      this.#tellAttendees();
    });
    room.on(RoomEvent.Disconnected, () => {
      if (this.state === "connected" || this.state === "ready")
        this._callbacks.onBotDisconnected?.({ id: "bot", name: "", local: false }); // the room was closed
    });
    for (const event of [
      RoomEvent.Connected,
      RoomEvent.ParticipantConnected,
      RoomEvent.ActiveSpeakersChanged,
    ])
      room.on(event as RoomEvent.Connected, () => this.#tellAttendees());
    room.localParticipant.on(ParticipantEvent.IsSpeakingChanged, () => this.#tellAttendees());
  }

  #hear(track: RemoteTrack, from: RemoteParticipant): void {
    if (track.kind !== Track.Kind.Audio) return;
    if (!from.isAgent) return void track.attach();
    this._callbacks.onTrackStarted?.(track.mediaStreamTrack, toParticipant(from));
    this._callbacks.onBotConnected?.(toParticipant(from));
    this.#botHere.resolve();
  }

  #receive(payload: Uint8Array): void {
    const message = parseMessage(payload);
    if (message?.label === RTVI_LABEL) this._onMessage(message);
  }

  #tellAttendees(): void {
    const { localParticipant, remoteParticipants } = this.room;
    this.#onAttendees(
      [localParticipant, ...remoteParticipants.values()].map((each) => ({
        identity: each.identity,
        name: each.name ?? "",
        kind: each.isLocal ? ("you" as const) : each.isAgent ? ("bot" as const) : ("person" as const),
        isSpeaking: each.isSpeaking,
      })),
    );
  }
}

function toParticipant({ identity, name }: RemoteParticipant): { id: string; name: string; local: boolean } {
  return { id: identity, name: name ?? "", local: false };
}

/** Every participant of the room can send data, so it is validated. */
function parseMessage(payload: Uint8Array): RTVIMessage | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(payload)) as RTVIMessage;
  } catch {
    return undefined;
  }
}

export function createRoomLink(options: LinkOptions): Link {
  const media = new PeerMedia(options);
  media.onPlaybackBlocked = options.onPlaybackBlocked;
  const transport = new RoomTransport(media, options.onAttendees);
  const { room } = transport;
  return {
    transport,
    media,
    startRequest: { transport: "room" },
    failure: "connection-failed",
    toConnectParams: pickPlace,
    playBot: (track) => media.playBot(track),
    followBot() {},
    resumePlayback() {
      media.play();
      void room.startAudio();
    },
    handleMessage() {},
    sendMicrophone: () => transport.sendMicrophone(),
    isHungUp: () => room.state === ConnectionState.Disconnected,
    isInterrupted: () => room.state !== ConnectionState.Connected,
    async sample(atMs): Promise<LinkSample> {
      const reports = await Promise.all(
        [room.engine.pcManager?.publisher, room.engine.pcManager?.subscriber].map(async (peer) =>
          peer?.getStats(),
        ),
      );
      const samples = reports.map((report) =>
        fromPeerStats((report?.values() ?? []) as Iterable<PeerStat>, atMs),
      );
      const [up, down] = samples;
      if (!up || !down) return { atMs, bytesUp: 0, bytesDown: 0 };
      return { ...down, bytesUp: up.bytesUp + down.bytesUp, bytesDown: up.bytesDown + down.bytesDown };
    },
    abandon: () => void room.disconnect(),
  };
}

/** A Daily room has an address too, but it speaks another language. */
function pickPlace(answer: unknown): RoomPlace {
  const { url, token, dailyRoom } = (answer ?? {}) as Record<"url" | "token" | "dailyRoom", unknown>;
  if (typeof dailyRoom === "string")
    throw new Error(`This page cannot join a room of Daily's. Open it there: ${dailyRoom}`);
  if (typeof url !== "string" || typeof token !== "string") throw new Error("The start answer names no room");
  return { url, token };
}
