import { createEncoder } from "libopus-wasm";
import ndc from "node-datachannel";
import type { DataChannel, PeerConnection, Track } from "node-datachannel";
import { createHearing, type Hearing } from "./hearing.ts";
import { call } from "./raw-http.ts";
import { pause, until } from "../../testing/wait.ts";

/** A browser's part of a call: offers what released clients offer, speaks Opus, counts what it hears. */
export interface PeerClient extends Disposable {
  /** The offer, without candidates: they follow, as with released clients that do not wait for them. */
  offer(): Promise<string>;
  /** The offer with its candidates, as of clients that wait for them. */
  wholeOffer(): Promise<string>;
  /** The offer's candidates in the shape of `PATCH /api/offer`. */
  candidates(): { candidate: string; sdp_mid: string; sdp_mline_index: number }[];
  accept(answer: string): void;
  /** Resolves once media and data channel are up. */
  connected(timeoutMs?: number): Promise<void>;
  readonly state: string;
  /** Where its media goes: what kind of candidate, at which address. */
  route(): PeerRoute;
  readonly heard: Hearing;
  /** Messages of the data channel, oldest first. */
  readonly texts: string[];
  sendText(text: string): void;
  /** As released clients do every second. Does nothing while the data channel is closed. */
  ping(): void;
  sendBytes(bytes: Buffer): void;
  /** Opens one more data channel, as no released client does. */
  openChannel(label: string): DataChannel;
  /** Sends RTP as it is, unless it is so odd that our own side cannot encrypt it. */
  sendPacket(packet: Buffer): void;
  /** Speaks a tone, or Opus' own silence, at real time. */
  speak(packets: number, sound: "tone" | "silence"): Promise<void>;
  /** Speaks a recording of 48 kHz at real time. */
  say(samples: Int16Array): Promise<void>;
  /** Resolves when the other side has closed or the data channel is gone. */
  left(timeoutMs: number): Promise<void>;
  close(): void;
}

export interface PeerRoute {
  local: { type: string; address: string; port: number };
  remote: { type: string; address: string; port: number };
}

export interface PeerClientOptions {
  /** STUN and TURN servers, with their credentials in the URL. */
  iceServers?: string[];
  /** Whether nothing but a relay will do. */
  needsRelay?: boolean;
  /** Address of this machine to send from. @default the one the route uses */
  address?: string;
  /** Connects with a data channel that the other side is never told of; `openChannel` opens one that it is. */
  opensNoChannel?: boolean;
}

const OPUS = 111;
const VP8 = 96;
const VOICE_SSRC = 0x5eed;
const SILENCE = Uint8Array.of(0xf8, 0xff, 0xfe);
const PACKET_MS = 20;
const CANDIDATE_LINES = /a=(?:candidate:.*|end-of-candidates)\r\n/g;
const TIMESTAMPS_PER_PACKET = 960;

export function createPeerClient({
  iceServers = [],
  needsRelay,
  address,
  opensNoChannel,
}: PeerClientOptions = {}): PeerClient {
  const connection = new ndc.PeerConnection("client", {
    iceServers,
    iceTransportPolicy: needsRelay ? "relay" : "all",
    disableAutoNegotiation: true,
    ...(address === undefined ? {} : { bindAddress: address }),
  });
  const hearing = createHearing();
  const texts: string[] = [];
  const { voice, tracks } = addMedia(connection);
  const channel = connection.createDataChannel("chat", opensNoChannel ? { negotiated: true, id: 100 } : {});
  const owned: { close(): void }[] = [...tracks, channel];
  let channelClosed = false;
  let sequenceNumber = 1000;
  let timestamp = 0;
  voice.onMessage((packet) => hearing.packet(packet));
  channel.onMessage((message) => void (typeof message === "string" && texts.push(message)));
  channel.onClosed(() => (channelClosed = true));

  function description(): string {
    return connection.localDescription()?.sdp ?? "";
  }

  async function wholeOffer(): Promise<string> {
    connection.setLocalDescription("offer");
    await until(() => connection.gatheringState() === "complete", 15_000, "candidates of the client");
    return description();
  }

  function speakPacket(payload: Uint8Array): void {
    if (voice.isOpen()) voice.sendMessageBinary(rtpPacket({ payload, sequenceNumber, timestamp }));
    sequenceNumber += 1;
    timestamp += TIMESTAMPS_PER_PACKET;
  }

  async function speakPackets(payloads: Uint8Array[]): Promise<void> {
    const startMs = performance.now();
    for (const [at, payload] of payloads.entries()) {
      speakPacket(payload);
      await pause(Math.max(0, startMs + (at + 1) * PACKET_MS - performance.now()));
    }
  }

  // In this order, and with a listener on each, or freePeerClients() crashes later.
  function close(): void {
    open.delete(close);
    for (const part of owned.splice(0)) part.close();
    connection.close();
  }
  open.add(close);

  return {
    offer: async () => (await wholeOffer()).replace(CANDIDATE_LINES, ""),
    wholeOffer,
    candidates: () =>
      [...description().matchAll(CANDIDATE_LINES)].map(([line]) => ({
        candidate: line.slice("a=".length).trim(),
        sdp_mid: "0",
        sdp_mline_index: 0,
      })),
    accept: (answer) => connection.setRemoteDescription(answer, "answer"),
    connected: async (timeoutMs = 20_000) => {
      await until(() => channel.isOpen() && voice.isOpen(), timeoutMs, "connection of the client");
    },
    get state() {
      return connection.state();
    },
    route() {
      const pair = connection.getSelectedCandidatePair();
      if (!pair) throw new Error("No media flows yet");
      const { local, remote } = pair;
      return {
        local: { type: local.type, address: local.address, port: local.port },
        remote: { type: remote.type, address: remote.address, port: remote.port },
      };
    },
    heard: hearing,
    texts,
    sendText: (text) => void channel.sendMessage(text),
    ping: () => void (channel.isOpen() && channel.sendMessage(`ping: ${Date.now()}`)),
    sendBytes: (bytes) => void channel.sendMessageBinary(bytes),
    openChannel(label) {
      const opened = connection.createDataChannel(label);
      opened.onClosed(() => undefined);
      opened.onMessage((message) => void (typeof message === "string" && texts.push(message)));
      owned.push(opened);
      return opened;
    },
    sendPacket(packet) {
      try {
        voice.sendMessageBinary(packet);
      } catch {
        // it never left
      }
    },
    async speak(packets, sound) {
      const payloads = sound === "tone" ? await tonePackets() : [SILENCE];
      await speakPackets(
        Array.from({ length: packets }, (_, at) => payloads[at % payloads.length] ?? SILENCE),
      );
    },
    say: async (samples) => speakPackets(await encodePackets(samples)),
    left: async (timeoutMs) => {
      await until(() => channelClosed || connection.state() === "closed", timeoutMs, "end of the connection");
    },
    close,
    [Symbol.dispose]: close,
  };
}

export interface CallBotOptions {
  port: number;
  /** @default 127.0.0.1 */
  address?: string;
  /** Where to send the offer; asked when it is ready. @default /api/offer */
  path?: string | (() => Promise<string>);
  /** More fields of the offer's request. */
  fields?: Record<string, unknown>;
  headers?: Record<string, string>;
  peer?: PeerClientOptions;
}

/** Makes an offer, takes the answer and resolves when the connection is up. */
export async function callBot(options: CallBotOptions): Promise<PeerClient & { pcId: string }> {
  const peer = createPeerClient(options.peer);
  const body = { sdp: await peer.offer(), type: "offer", pc_id: null, ...options.fields };
  const { path = "/api/offer" } = options;
  const answer = await call(options.port, `POST ${typeof path === "string" ? path : await path()}`, {
    body,
    headers: options.headers ?? {},
    ...(options.address === undefined ? {} : { address: options.address }),
  });
  if (answer.status !== 200) throw new Error(`The offer was refused with ${answer.status}: ${answer.body}`);
  const { sdp, pc_id } = answer.json();
  peer.accept(sdp);
  await peer.connected();
  return Object.assign(peer, { pcId: String(pc_id) });
}

const open = new Set<() => void>();

/** Frees the threads behind all peer connections; without it a test process does not end. */
export function freePeerClients(): void {
  for (const close of open) close();
  ndc.cleanup();
}

export function rtpPacket(fields: {
  payload: Uint8Array;
  sequenceNumber: number;
  timestamp: number;
}): Buffer {
  const packet = Buffer.alloc(12 + fields.payload.length);
  packet.writeUInt8(0x80, 0);
  packet.writeUInt8(OPUS, 1);
  packet.writeUInt16BE(fields.sequenceNumber & 0xffff, 2);
  packet.writeUInt32BE(fields.timestamp >>> 0, 4);
  packet.writeUInt32BE(VOICE_SSRC, 8);
  packet.set(fields.payload, 12);
  return packet;
}

function addMedia(connection: PeerConnection): { voice: Track; tracks: Track[] } {
  const microphone = new ndc.Audio("0", "SendRecv");
  microphone.addOpusCodec(OPUS);
  microphone.addSSRC(VOICE_SSRC, "client", "client", "microphone");
  const voice = connection.addTrack(microphone);
  voice.setMediaHandler(new ndc.RtcpReceivingSession());
  const tracks = [voice];
  for (const [mid, direction] of [
    ["1", "SendRecv"],
    ["2", "SendOnly"],
  ] as const) {
    const video = new ndc.Video(mid, direction);
    video.addVP8Codec(VP8);
    tracks.push(connection.addTrack(video));
  }
  for (const track of tracks) track.onClosed(() => undefined);
  return { voice, tracks };
}

let tone: Promise<Uint8Array[]> | undefined;

function tonePackets(): Promise<Uint8Array[]> {
  tone ??= encodeTone();
  return tone;
}

// 20 ms hold whole periods of 300 Hz, so the packets can be repeated for ever.
async function encodeTone(): Promise<Uint8Array[]> {
  const samples = Int16Array.from({ length: 50 * TIMESTAMPS_PER_PACKET }, (_, at) =>
    Math.round(12_000 * Math.sin((2 * Math.PI * 300 * at) / 48_000)),
  );
  return (await encodePackets(samples)).slice(5);
}

async function encodePackets(samples: Int16Array): Promise<Uint8Array[]> {
  const encoder = await createEncoder({ sampleRate: 48_000, channels: 1, bitrate: 32_000 });
  const packets: Uint8Array[] = [];
  for (let at = 0; at + TIMESTAMPS_PER_PACKET <= samples.length; at += TIMESTAMPS_PER_PACKET)
    packets.push(encoder.encode(samples.subarray(at, at + TIMESTAMPS_PER_PACKET)));
  encoder.free();
  return packets;
}
