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
  const { on, reach } = options;
  let audioTrack: NativeTrack | undefined;
  let opusPayloadType = 0;
  let heldCandidates: IceCandidate[] | undefined; // undefined before the first offer
  let checksTimer: NodeJS.Timeout | undefined;
  let channel: NativeChannel | undefined;
  // Nobody asks for tracks the client adds, video above all: every callback that is registered makes
  // each packet of every connection a little dearer.
  const connection = openConnection({
    role: "answers",
    config: {
      iceServers: reach.port === undefined ? options.iceServers.flatMap(toNdcIceServers) : [],
      maxMessageSize: limits.dataChannelMessageBytes,
      mtu: MTU_BYTES,
      ...onOnePort(reach.port),
    },
    gatherMs: options.gatherMs,
    changed: (state) => onState(state, on),
    channelOpened(opened) {
      if (channel) return; // clients have one; what else they open is not read
      channel = opened;
      opened.onMessage((message) => (typeof message === "string" ? on.text(message) : undefined));
      on.channelOpen();
    },
    channelClosed(closed) {
      if (closed === channel) on.left();
    },
    problem: on.failed,
  });

  function addAudio(offer: Offer): void {
    if (!offer.audio || audioTrack) return;
    opusPayloadType = offer.audio.opusPayloadType;
    const media = new Audio(offer.audio.mid, NDC_DIRECTIONS[mirrored(offer.audio.direction)]);
    media.addOpusCodec(opusPayloadType, "minptime=10;useinbandfec=1");
    media.addSSRC(options.ssrc, "bot", "bot", "voice");
    audioTrack = connection.addTrack(media);
    // What we receive is reported by ourselves: the library's reports say that nothing is lost, and it keeps the
    // client's to itself.
    audioTrack.setMediaHandler(
      new RtcpSrReporter(new RtpPacketizationConfig(options.ssrc, "bot", opusPayloadType, 48_000)),
    );
    audioTrack.onMessage((packet) => on.rtp(packet));
  }

  function addCandidates(candidates: IceCandidate[]): void {
    for (const { candidate, sdp_mid } of candidates) {
      if (isUsableCandidate(candidate)) connection.addCandidate(candidate, sdp_mid ?? "0");
    }
  }

  /** The first offer without its candidates, which wait for the answer. */
  function applicable(offer: Offer): string {
    if (heldCandidates) return offer.sdp;
    const { sdp, candidates } = splitCandidates(offer.sdp);
    heldCandidates = candidates;
    return sdp;
  }

  return {
    get opusPayloadType() {
      return opusPayloadType;
    },
    async answer(offer) {
      addAudio(offer);
      return announceAddresses(await connection.answer(applicable(offer)), reach.addresses);
    },
    answered() {
      checksTimer ??= setTimeout(() => addCandidates(heldCandidates ?? []), CHECKS_AFTER_ANSWER_MS);
    },
    addCandidates,
    sendRtp: (packet) => void audioTrack?.send(packet),
    sendText(text) {
      if (!channel?.isOpen) return false;
      if (Buffer.byteLength(text) > channel.maxMessageBytes())
        throw new Error("A message exceeds what the client takes");
      return channel.send(text);
    },
    bufferedBytes: () => (channel?.isOpen ? channel.bufferedBytes() : 0),
    close() {
      clearTimeout(checksTimer);
      connection.close();
    },
  };
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
