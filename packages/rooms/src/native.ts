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
  /** Of the whole connection: every packet of every track goes through it. */
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
  /** One that the other side had opened is closed. */
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
  let closed = false;
  let earlyCandidates: { candidate: string; mid: string }[] | undefined = []; // until the first description
  const waiting: (() => void)[] = [];
  const parts = new Set<Track | DataChannel>();
  const tracks = new Map<string, OwnTrack>();
  let midOfSource = new Map<number, string>();
  const mids: string[] = []; // of our offer
  let trunk: Track | undefined;
  let remote = "";
  let agreedMids: string[] = [];
  const library = new ndc.PeerConnection("vocalhost", {
    ...options.config,
    // The library then makes the answer inside `setRemoteDescription`, where what it throws is an ordinary exception.
    // `setLocalDescription("answer")` ends the process if the connection has been closed or no socket can be opened.
    disableAutoNegotiation: options.role === "offers",
  });

  /** An exception that escapes a callback ends the process. */
  function guard<A extends unknown[]>(callback: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      if (closed) return;
      try {
        callback(...args);
      } catch (error) {
        options.problem(error);
      }
    };
  }

  /** The library frees a track or channel only if it is closed by itself and somebody listens to that. */
  function own(part: Track | DataChannel, told: () => void = ignore): void {
    const tell = guard(told);
    parts.add(part);
    untilClosed.add(part);
    part.onClosed(() => {
      parts.delete(part);
      part.close(); // or its other callbacks stay, and hold up the end of the thread
      untilClosed.delete(part);
      tell();
    });
  }

  function toChannel(channel: DataChannel): NativeChannel {
    return {
      label: channel.getLabel(),
      get isOpen() {
        return channel.isOpen();
      },
      onMessage: (callback) => channel.onMessage(guard(callback)),
      send: (message) =>
        !closed &&
        channel.isOpen() &&
        unlessGone(() =>
          typeof message === "string" ? channel.sendMessage(message) : channel.sendMessageBinary(message),
        ),
      bufferedBytes: () => channel.bufferedAmount(),
      maxMessageBytes: () => channel.maxMessageSize(),
    };
  }

  /** The library closes what broke or was left by itself, in a thread of its own. */
  function refuseIfOver(): void {
    if (closed || library.state() === "closed") throw new Error("The connection is over");
  }

  function applyRemote(sdp: string, type: "offer" | "answer"): void {
    refuseIfOver();
    const known = knownLines(sdp);
    if (describesMedia(known)) openTrunk();
    library.setRemoteDescription(trunk ? withTrunk(known) : known, type);
    remote = known;
    learnSources();
    const early = earlyCandidates ?? [];
    earlyCandidates = undefined;
    for (const { candidate, mid } of early) addCandidate(candidate, mid);
  }

  function addCandidate(candidate: string, mid: string): void {
    if (earlyCandidates) {
      if (earlyCandidates.length < EARLY_CANDIDATES_MAX) earlyCandidates.push({ candidate, mid });
      return;
    }
    try {
      library.addRemoteCandidate(candidate, mid);
    } catch {
      // One odd candidate is no reason to lose the others.
    }
  }

  function openTrunk(): Track {
    if (trunk) return trunk;
    const media = new ndc.Audio(trunkSection.mid, "SendRecv");
    media.addOpusCodec(trunkSection.payloadType);
    trunk = library.addTrack(media);
    own(trunk);
    // Always: what nobody takes is kept for them, up to a megabyte.
    trunk.onMessage(guard(receive));
    return trunk;
  }

  function receive(packet: Buffer): void {
    for (const mid of midsOf(packet)) tracks.get(mid)?.receive?.(packet);
  }

  /** A compound of RTCP goes wherever it names a source. */
  function midsOf(packet: Buffer): Iterable<string> {
    const found = new Set<string>();
    const note = (source: number): void => {
      const mid = midOfSource.get(source);
      if (mid !== undefined) found.add(mid);
    };
    if (isRtcp(packet)) for (let at = 4; at + 4 <= packet.length; at += 4) note(packet.readUInt32BE(at));
    else if (packet.length >= 12) note(ssrcOf(packet));
    if (found.size > 0) return found;
    return agreedMids.length === 1 ? agreedMids : found; // then it is clear without a source
  }

  function learnSources(): void {
    const agreed = mediaOf(remote);
    agreedMids = [...agreed.keys()];
    const own = [...tracks].map(([mid, { sources }]) => [mid, sources] as const);
    midOfSource = new Map(
      [...agreed, ...own].flatMap(([mid, sources]) => sources.map((source) => [source, mid] as const)),
    );
  }

  function agree(): void {
    for (const mid of agreedMids) {
      const track = tracks.get(mid);
      if (track) track.agreed = true;
    }
  }

  async function description(): Promise<string> {
    if (library.gatheringState() !== "complete") await gathered();
    refuseIfOver();
    const sdp = library.localDescription()?.sdp;
    if (!sdp) throw new Error("The peer connection gave no description");
    return sdp;
  }

  async function gathered(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, options.gatherMs);
      waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  function stopWaiting(): void {
    for (const resume of waiting.splice(0)) resume();
  }

  untilClosed.add(library);
  library.onStateChange((state) => {
    if (state === "closed") untilClosed.delete(library);
    guard(options.changed)(state);
  });
  // Registered once: the library may be about to call the listener that another would replace.
  library.onGatheringStateChange(guard((state) => void (state === "complete" && stopWaiting())));
  if (options.config.forceMediaTransport) openTrunk(); // without any media section the library takes RTCP apart, too
  if (options.channelOpened)
    library.onDataChannel((channel) => {
      const opened = toChannel(channel);
      own(channel, () => options.channelClosed?.(opened));
      if (closed) channel.close();
      else guard(() => options.channelOpened?.(opened))();
    });

  return {
    async answer(offer) {
      applyRemote(offer, "offer");
      // An offer that leaves out what is there makes the library offer in turn, which nobody would answer.
      if (library.signalingState() === "have-local-offer") library.setLocalDescription("rollback");
      const answer = await description();
      agree();
      return trunk ? fullAnswer(answer, remote, tracks) : answer;
    },
    async offer() {
      refuseIfOver();
      if (options.role !== "offers" || library.signalingState() !== "stable" || parts.size === 0)
        throw new Error("Nothing can be offered now");
      library.setLocalDescription("offer");
      const offer = await description();
      return trunk ? fullOffer(offer, mids, tracks) : offer;
    },
    accept(answer) {
      applyRemote(answer, "answer");
      agree();
    },
    addCandidate,
    addTrack(media) {
      refuseIfOver();
      const trunkTrack = openTrunk();
      const mid = media.mid();
      const track: OwnTrack = {
        describe: () => media.generateSdp("\r\n", "IP4 0.0.0.0", 9),
        sources: [...media.getSSRCs()], // the library gives a typed array, whose `map` makes only numbers
        agreed: false,
        closed: false,
      };
      tracks.set(mid, track);
      learnSources();
      return {
        onMessage: (callback) => void (track.receive = callback),
        setMediaHandler: (handler) => trunkTrack.setMediaHandler(handler),
        send: (packet) =>
          !closed &&
          track.agreed &&
          !track.closed &&
          trunkTrack.isOpen() &&
          unlessGone(() => trunkTrack.sendMessageBinary(packet)),
        close() {
          track.closed = true;
          track.sources = [];
          learnSources();
        },
      };
    },
    createChannel(label, init) {
      const channel = init ? library.createDataChannel(label, init) : library.createDataChannel(label);
      own(channel);
      return toChannel(channel);
    },
    close() {
      if (closed) return;
      closed = true;
      stopWaiting();
      for (const part of [...parts]) part.close();
      library.close();
    },
  };
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
