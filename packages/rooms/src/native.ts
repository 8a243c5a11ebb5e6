import ndc, {
  type DataChannel,
  type DataChannelInitConfig,
  type MediaHandler,
  type RtcConfig,
  type Track,
} from "node-datachannel";
import { isRtcp, ssrcOf } from "./media/rtp-header.ts";
import {
  describesMedia,
  fullAnswer,
  fullOffer,
  knownLines,
  mediaOf,
  trunk as trunkSection,
  withTrunk,
  type DescribedTrack,
} from "./trunk.ts";

// Descriptions of media and what handles it: plain values, which belong to no connection.
export { Audio, RtcpSrReporter, RtpPacketizationConfig, Video } from "node-datachannel";

/**
 * One peer connection of the native library. This file is the only way to the library: some exceptions inside it reach
 * no `try` of ours and end the process with every call in it, so it is called only where it cannot throw that way.
 */
export interface NativeConnection {
  /** Applies an offer; resolves with our answer once our candidates are in it. */
  answer(offer: string): Promise<string>;
  /** Resolves with our offer once our candidates are in it. */
  offer(): Promise<string>;
  /** Applies the answer to our offer. */
  accept(answer: string): void;
  /** Keeps a candidate that comes before the first description; ignores one that comes too late or cannot be used. */
  addCandidate(candidate: string, mid: string): void;
  addTrack(media: Media): NativeTrack;
  createChannel(label: string, init?: DataChannelInitConfig): NativeChannel;
  close(): void;
}

export interface NativeTrack {
  onMessage(callback: (packet: Buffer) => void): void;
  /** Sets the handler of the whole connection: all packets of all tracks pass through it. */
  setMediaHandler(handler: MediaHandler): void;
  /** False when it is not open, or no longer. */
  send(packet: Buffer): boolean;
  close(): void;
}

export interface NativeChannel {
  readonly label: string;
  readonly isOpen: boolean;
  onMessage(callback: (message: string | Buffer | ArrayBuffer) => void): void;
  /** False when it is not open, or no longer. */
  send(message: string | Uint8Array): boolean;
  /** Bytes accepted and not yet on the wire. */
  bufferedBytes(): number;
  maxMessageBytes(): number;
}

export interface NativeOptions {
  /** Which side this is, for all its life. */
  role: "answers" | "offers";
  config: Omit<RtcConfig, "disableAutoNegotiation">;
  /** How long a description waits for our candidates. */
  gatherMs: number;
  changed(state: string): void;
  /** The other side has opened a data channel. */
  channelOpened?(channel: NativeChannel): void;
  /** A data channel that the other side opened has closed. */
  channelClosed?(channel: NativeChannel): void;
  /** A callback threw. */
  problem(error: unknown): void;
}

interface OwnTrack extends DescribedTrack {
  sources: number[];
  /** The other side has agreed to it. */
  agreed: boolean;
  receive?(packet: Buffer): void;
}

type Media = Parameters<InstanceType<typeof ndc.PeerConnection>["addTrack"]>[0];

// The library calls back into its objects until they are closed, and crashes at the end of the process if the garbage
// collector has taken one before.
const untilClosed = new Set<object>();
const EARLY_CANDIDATES_MAX = 100;

export function openConnection(options: NativeOptions): NativeConnection {
  return new Connection(options);
}

class Connection implements NativeConnection {
  readonly #options: NativeOptions;
  readonly #library: InstanceType<typeof ndc.PeerConnection>;
  readonly #parts = new Set<Track | DataChannel>();
  readonly #sections = new Sections();
  readonly #mids: string[] = []; // of our offer
  readonly #gatherings: (() => void)[] = [];
  #earlyCandidates: { candidate: string; mid: string }[] | undefined = []; // until the first description
  #trunk: Track | undefined;
  #remote = "";
  #isClosed = false;

  constructor(options: NativeOptions) {
    this.#options = options;
    this.#library = new ndc.PeerConnection("vocalhost", {
      ...options.config,
      // The library then makes the answer inside `setRemoteDescription`, where it throws ordinary exceptions.
      // `setLocalDescription("answer")` ends the process if the connection has been closed or no socket can be opened.
      disableAutoNegotiation: options.role === "offers",
    });
    untilClosed.add(this.#library);
    this.#listen();
    if (options.config.forceMediaTransport) this.#openTrunk(); // without a media section the library parses RTCP too
  }

  #listen(): void {
    const { changed, channelOpened, channelClosed } = this.#options;
    this.#library.onStateChange((state) => {
      if (state === "closed") untilClosed.delete(this.#library);
      this.#guard(changed)(state);
    });
    // Registered once: the library may be about to call the listener that another would replace.
    this.#library.onGatheringStateChange(
      this.#guard((state) => void (state === "complete" && this.#endGathering())),
    );
    if (!channelOpened) return;
    this.#library.onDataChannel((channel) => {
      const opened = this.#toChannel(channel);
      this.#own(channel, () => channelClosed?.(opened));
      if (this.#isClosed) channel.close();
      else this.#guard(() => channelOpened(opened))();
    });
  }

  async answer(offer: string): Promise<string> {
    this.#applyRemote(offer, "offer");
    // The library answers an offer without the existing sections with an offer of its own, which no client answers.
    if (this.#library.signalingState() === "have-local-offer") this.#library.setLocalDescription("rollback");
    const answer = await this.#description();
    this.#sections.agree();
    return this.#trunk ? fullAnswer(answer, this.#remote, this.#sections.tracks) : answer;
  }

  async offer(): Promise<string> {
    this.#refuseIfOver();
    const canOffer = this.#options.role === "offers" && this.#library.signalingState() === "stable";
    if (!canOffer || this.#parts.size === 0) throw new Error("Nothing can be offered now");
    this.#library.setLocalDescription("offer");
    const offer = await this.#description();
    return this.#trunk ? fullOffer(offer, this.#mids, this.#sections.tracks) : offer;
  }

  accept(answer: string): void {
    this.#applyRemote(answer, "answer");
    this.#sections.agree();
  }

  addCandidate(candidate: string, mid: string): void {
    if (this.#earlyCandidates) {
      if (this.#earlyCandidates.length < EARLY_CANDIDATES_MAX) this.#earlyCandidates.push({ candidate, mid });
      return;
    }
    try {
      this.#library.addRemoteCandidate(candidate, mid);
    } catch {
      // One odd candidate is no reason to lose the others.
    }
  }

  addTrack(media: Media): NativeTrack {
    this.#refuseIfOver();
    const trunk = this.#openTrunk();
    const track: OwnTrack = {
      describe: () => media.generateSdp("\r\n", "IP4 0.0.0.0", 9),
      sources: [...media.getSSRCs()], // the library gives a typed array, whose `map` makes only numbers
      agreed: false,
      closed: false,
    };
    this.#sections.add(media.mid(), track);
    return {
      onMessage: (callback) => void (track.receive = callback),
      setMediaHandler: (handler) => trunk.setMediaHandler(handler),
      send: (packet) =>
        !this.#isClosed &&
        track.agreed &&
        !track.closed &&
        trunk.isOpen() &&
        unlessGone(() => trunk.sendMessageBinary(packet)),
      close: () => this.#sections.end(track),
    };
  }

  createChannel(label: string, init?: DataChannelInitConfig): NativeChannel {
    const channel = init
      ? this.#library.createDataChannel(label, init)
      : this.#library.createDataChannel(label);
    this.#own(channel);
    return this.#toChannel(channel);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endGathering();
    for (const part of [...this.#parts]) part.close();
    this.#library.close();
  }

  /** An exception that escapes a callback ends the process. */
  #guard<A extends unknown[]>(callback: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      if (this.#isClosed) return;
      try {
        callback(...args);
      } catch (error) {
        this.#options.problem(error);
      }
    };
  }

  /** The library frees a track or channel only if it is closed by itself and has a listener for that. */
  #own(part: Track | DataChannel, told: () => void = ignore): void {
    const tell = this.#guard(told);
    this.#parts.add(part);
    untilClosed.add(part);
    part.onClosed(() => {
      this.#parts.delete(part);
      part.close(); // or its other callbacks stay, and hold up the end of the thread
      untilClosed.delete(part);
      tell();
    });
  }

  #toChannel(channel: DataChannel): NativeChannel {
    return {
      label: channel.getLabel(),
      get isOpen() {
        return channel.isOpen();
      },
      onMessage: (callback) => channel.onMessage(this.#guard(callback)),
      send: (message) =>
        !this.#isClosed &&
        channel.isOpen() &&
        unlessGone(() =>
          typeof message === "string" ? channel.sendMessage(message) : channel.sendMessageBinary(message),
        ),
      bufferedBytes: () => channel.bufferedAmount(),
      maxMessageBytes: () => channel.maxMessageSize(),
    };
  }

  /** The library closes broken and abandoned connections by itself, in a thread of its own. */
  #refuseIfOver(): void {
    if (this.#isClosed || this.#library.state() === "closed") throw new Error("The connection is over");
  }

  #applyRemote(sdp: string, type: "offer" | "answer"): void {
    this.#refuseIfOver();
    const known = knownLines(sdp);
    if (describesMedia(known)) this.#openTrunk();
    this.#library.setRemoteDescription(this.#trunk ? withTrunk(known) : known, type);
    this.#remote = known;
    this.#sections.learn(known);
    const early = this.#earlyCandidates ?? [];
    this.#earlyCandidates = undefined;
    for (const { candidate, mid } of early) this.addCandidate(candidate, mid);
  }

  #openTrunk(): Track {
    if (this.#trunk) return this.#trunk;
    const media = new ndc.Audio(trunkSection.mid, "SendRecv");
    media.addOpusCodec(trunkSection.payloadType);
    this.#trunk = this.#library.addTrack(media);
    this.#own(this.#trunk);
    // Always: the library keeps up to a megabyte of packets for a listener that may come.
    this.#trunk.onMessage(this.#guard((packet) => this.#sections.receive(packet)));
    return this.#trunk;
  }

  async #description(): Promise<string> {
    if (this.#library.gatheringState() !== "complete") await this.#gathered();
    this.#refuseIfOver();
    const sdp = this.#library.localDescription()?.sdp;
    if (!sdp) throw new Error("The peer connection gave no description");
    return sdp;
  }

  async #gathered(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#options.gatherMs);
      this.#gatherings.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #endGathering(): void {
    for (const resume of this.#gatherings.splice(0)) resume();
  }
}

/** The tracks of a connection by their media section, and which of them a packet on the trunk belongs to. */
class Sections {
  readonly tracks = new Map<string, OwnTrack>();
  #remote = "";
  #agreedMids: string[] = [];
  #midOfSource = new Map<number, string>();

  add(mid: string, track: OwnTrack): void {
    this.tracks.set(mid, track);
    this.learn(this.#remote);
  }

  end(track: OwnTrack): void {
    track.closed = true;
    track.sources = [];
    this.learn(this.#remote);
  }

  /** Reads from the other side's description which source sends in which section. */
  learn(remote: string): void {
    this.#remote = remote;
    const agreed = mediaOf(remote);
    this.#agreedMids = [...agreed.keys()];
    const own = [...this.tracks].map(([mid, { sources }]) => [mid, sources] as const);
    this.#midOfSource = new Map(
      [...agreed, ...own].flatMap(([mid, sources]) => sources.map((source) => [source, mid] as const)),
    );
  }

  agree(): void {
    for (const mid of this.#agreedMids) {
      const track = this.tracks.get(mid);
      if (track) track.agreed = true;
    }
  }

  receive(packet: Buffer): void {
    for (const mid of this.#midsOf(packet)) this.tracks.get(mid)?.receive?.(packet);
  }

  /** A compound of RTCP goes wherever it names a source. */
  #midsOf(packet: Buffer): Iterable<string> {
    const found = new Set<string>();
    const note = (source: number): void => {
      const mid = this.#midOfSource.get(source);
      if (mid !== undefined) found.add(mid);
    };
    if (isRtcp(packet)) for (let at = 4; at + 4 <= packet.length; at += 4) note(packet.readUInt32BE(at));
    else if (packet.length >= 12) note(ssrcOf(packet));
    if (found.size > 0) return found;
    return this.#agreedMids.length === 1 ? this.#agreedMids : found; // then it is clear without a source
  }
}

/** Keeps a UDP port for the connections that share it. Throws when it cannot be had. */
export function openSharedPort(port: number, address?: string): { close(): void } {
  const listener =
    address === undefined ? new ndc.IceUdpMuxListener(port) : new ndc.IceUdpMuxListener(port, address);
  return { close: () => listener.stop() };
}

/** Closes everything and ends the library's threads, which would keep the process alive. */
export function endNative(): void {
  ndc.cleanup();
}

// The library's return value only says whether it sent at once.
function unlessGone(send: () => boolean): boolean {
  try {
    send();
    return true;
  } catch {
    return false; // closed in between; its callback is on the way
  }
}

function ignore(): void {
  // nothing is left to do
}
