import type { IceCandidate, IceServer } from "@vocalhost/protocol";
import { limits } from "@vocalhost/protocol";
import {
  Audio,
  openConnection,
  RtcpSrReporter,
  RtpPacketizationConfig,
  type NativeChannel,
  type NativeOptions,
  type NativeTrack,
} from "@vocalhost/rooms/native";
import { announceAddresses } from "./announce-addresses.ts";
import { isUsableCandidate } from "./candidate.ts";
import type { MediaReach } from "./messages.ts";
import { mirrored, splitCandidates, type Offer } from "./offer.ts";

/** One peer connection to a browser. It transfers bytes, and knows nothing of audio or bots. */
export interface Peer {
  /** Applies an offer and returns the answer, including our candidates. */
  answer(offer: Offer): Promise<string>;
  /** Call when the answer is on its way to the client. */
  answered(): void;
  addCandidates(candidates: IceCandidate[]): void;
  readonly opusPayloadType: number;
  /** Sends RTP or RTCP. */
  sendRtp(packet: Buffer): void;
  /** Returns true when the text was accepted, false when the data channel is not open. */
  sendText(text: string): boolean;
  /** Bytes accepted and not yet on the wire. */
  bufferedBytes(): number;
  close(): void;
}

export interface PeerOptions {
  iceServers: IceServer[];
  gatherMs: number;
  reach: MediaReach;
  ssrc: number;
  on: PeerHandlers;
}

export interface PeerHandlers {
  connected(): void;
  /** Called when the connection breaks; a rebuilt one may follow. */
  disconnected(): void;
  /** Called when the client's close message arrives. */
  left(): void;
  channelOpen(): void;
  /** Called with RTP or RTCP. */
  rtp(packet: Buffer): void;
  text(message: string): void;
  failed(error: unknown): void;
}

// Connectivity checks can arrive before our answer; DTLS would then begin before the client knows our fingerprint,
// and dropped packets are repeated after a second only. Clients with the answer check us by themselves.
const CHECKS_AFTER_ANSWER_MS = 40;

// Paths with an MTU of 1280 bytes silently drop larger packets.
const MTU_BYTES = 1200;

const NDC_DIRECTIONS = {
  sendrecv: "SendRecv",
  sendonly: "SendOnly",
  recvonly: "RecvOnly",
  inactive: "Inactive",
} as const;

export function createPeer(options: PeerOptions): Peer {
  return new RtpPeer(options);
}

class RtpPeer implements Peer {
  readonly #options: PeerOptions;
  #audioTrack: NativeTrack | undefined;
  #opusPayloadType = 0;
  #heldCandidates: IceCandidate[] | undefined; // undefined before the first offer
  #checksTimer: NodeJS.Timeout | undefined;
  #channel: NativeChannel | undefined;
  // No callback for tracks that the client adds, such as video: each registered callback adds cost to every
  // packet.
  readonly #connection;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#connection = openConnection({
      role: "answers",
      config: {
        iceServers: options.reach.port === undefined ? options.iceServers.flatMap(toNdcIceServers) : [],
        maxMessageSize: limits.dataChannelMessageBytes,
        mtu: MTU_BYTES,
        ...onOnePort(options.reach.port),
      },
      gatherMs: options.gatherMs,
      changed: (state) => onState(state, options.on),
      channelOpened: (opened) => {
        if (this.#channel) return; // clients have one; further channels are ignored
        this.#channel = opened;
        opened.onMessage((message) => (typeof message === "string" ? options.on.text(message) : undefined));
        options.on.channelOpen();
      },
      channelClosed: (closed) => {
        if (closed === this.#channel) options.on.left();
      },
      problem: options.on.failed,
    });
  }

  get opusPayloadType(): number {
    return this.#opusPayloadType;
  }

  async answer(offer: Offer): Promise<string> {
    this.#addAudio(offer);
    return announceAddresses(
      await this.#connection.answer(this.#applicable(offer)),
      this.#options.reach.addresses,
    );
  }

  answered(): void {
    this.#checksTimer ??= setTimeout(
      () => this.addCandidates(this.#heldCandidates ?? []),
      CHECKS_AFTER_ANSWER_MS,
    );
  }

  addCandidates(candidates: IceCandidate[]): void {
    for (const { candidate, sdp_mid } of candidates) {
      if (isUsableCandidate(candidate)) this.#connection.addCandidate(candidate, sdp_mid ?? "0");
    }
  }

  sendRtp(packet: Buffer): void {
    this.#audioTrack?.send(packet);
  }

  sendText(text: string): boolean {
    if (!this.#channel?.isOpen) return false;
    if (Buffer.byteLength(text) > this.#channel.maxMessageBytes())
      throw new Error("A message exceeds what the client takes");
    return this.#channel.send(text);
  }

  bufferedBytes(): number {
    return this.#channel?.isOpen ? this.#channel.bufferedBytes() : 0;
  }

  close(): void {
    clearTimeout(this.#checksTimer);
    this.#connection.close();
  }

  #addAudio(offer: Offer): void {
    if (!offer.audio || this.#audioTrack) return;
    this.#opusPayloadType = offer.audio.opusPayloadType;
    const media = new Audio(offer.audio.mid, NDC_DIRECTIONS[mirrored(offer.audio.direction)]);
    media.addOpusCodec(this.#opusPayloadType, "minptime=10;useinbandfec=1");
    media.addSSRC(this.#options.ssrc, "bot", "bot", "voice");
    this.#audioTrack = this.#connection.addTrack(media);
    // We write receiver reports ourselves: the library reports no loss, and does not pass on the client's reports.
    this.#audioTrack.setMediaHandler(
      new RtcpSrReporter(
        new RtpPacketizationConfig(this.#options.ssrc, "bot", this.#opusPayloadType, 48_000),
      ),
    );
    this.#audioTrack.onMessage((packet) => this.#options.on.rtp(packet));
  }

  /** Removes the candidates of the first offer, which are added after the answer. */
  #applicable(offer: Offer): string {
    if (this.#heldCandidates) return offer.sdp;
    const { sdp, candidates } = splitCandidates(offer.sdp);
    this.#heldCandidates = candidates;
    return sdp;
  }
}

/** Puts all connections of the process on one socket. The library then uses no STUN or TURN server. */
function onOnePort(port: number | undefined): Partial<NativeOptions["config"]> {
  if (port === undefined) return {};
  return { enableIceUdpMux: true, portRangeBegin: port, portRangeEnd: port };
}

function onState(state: string, on: PeerHandlers): void {
  if (state === "connected") on.connected();
  else if (state === "disconnected" || state === "failed") on.disconnected();
  else if (state === "closed") on.left();
}

function toNdcIceServers(server: IceServer): string[] {
  const urls = typeof server.urls === "string" ? [server.urls] : server.urls;
  return urls.map((url) => withCredentials(url, server));
}

function withCredentials(url: string, { username, credential }: IceServer): string {
  if (!username || !credential) return url;
  const [scheme, rest] = splitOnce(url, ":");
  return `${scheme}:${encodeURIComponent(username)}:${encodeURIComponent(credential)}@${rest}`;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
