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

/** One peer connection to a browser: bytes in and out, nothing of audio or bots. */
export interface Peer {
  /** Applies an offer and gives the answer, with our candidates in it. */
  answer(offer: Offer): Promise<string>;
  /** The answer is on its way to the client. */
  answered(): void;
  addCandidates(candidates: IceCandidate[]): void;
  readonly opusPayloadType: number;
  /** RTP, or RTCP on the same way. */
  sendRtp(packet: Buffer): void;
  /** True when it is on the wire or will be, false when the data channel is not open. */
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
  /** The connection broke; a rebuilt one may follow. */
  disconnected(): void;
  /** The client said goodbye. */
  left(): void;
  channelOpen(): void;
  /** RTP, or RTCP on the same way. */
  rtp(packet: Buffer): void;
  text(message: string): void;
  failed(error: unknown): void;
}

// Our checks can be quicker than our answer, DTLS then begins before the client knows whom to trust, and a client that
// throws such a packet away gets it again after a second. Clients with the answer check us by themselves.
const CHECKS_AFTER_ANSWER_MS = 40;

// Below the 1280-byte paths on which larger packets stall silently.
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
  // Nobody asks for tracks the client adds, video above all: every callback that is registered makes
  // each packet of every connection a little dearer.
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
        if (this.#channel) return; // clients have one; what else they open is not read
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
    // What we receive is reported by ourselves: the library's reports say that nothing is lost, and it keeps the
    // client's to itself.
    this.#audioTrack.setMediaHandler(
      new RtcpSrReporter(
        new RtpPacketizationConfig(this.#options.ssrc, "bot", this.#opusPayloadType, 48_000),
      ),
    );
    this.#audioTrack.onMessage((packet) => this.#options.on.rtp(packet));
  }

  /** The first offer without its candidates, which wait for the answer. */
  #applicable(offer: Offer): string {
    if (this.#heldCandidates) return offer.sdp;
    const { sdp, candidates } = splitCandidates(offer.sdp);
    this.#heldCandidates = candidates;
    return sdp;
  }
}

/** All connections of the process through one socket. They have no relay of their own then: the library asks no STUN or TURN server on a shared port. */
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
