import { openSharedPort } from "../native.ts";
import type { MediaCommand, MediaEvent, MediaSettings, PeerId, TrackSid } from "./messages.ts";
import type { PublishedTrack } from "./published-track.ts";
import { createPublisherConnection, type PublisherConnection } from "./publisher-connection.ts";
import { DescriptionRefused } from "./sdp.ts";
import { createSubscriberConnection, type SubscriberConnection } from "./subscriber-connection.ts";

/** Every connection and every track of all rooms. Knows peers and tracks, nothing of rooms and rights. */
export interface MediaServer extends Disposable {
  execute(command: MediaCommand): void;
}

interface Peer {
  /** Those of the server, or with an announced address of its own. */
  settings: MediaSettings;
  publisher: PublisherConnection | undefined;
  subscriber: SubscriberConnection;
  published: Set<TrackSid>;
}

const REPORT_EVERY_MS = 2_000;

export function createMediaServer(settings: MediaSettings, emit: (event: MediaEvent) => void): MediaServer {
  return new Server(settings, emit);
}

type Emit = (event: MediaEvent) => void;
type PublisherOffer = Extract<MediaCommand, { type: "publisher-offer" }>;

class Server implements MediaServer {
  readonly #settings: MediaSettings;
  readonly #emit: Emit;
  readonly #peers = new Map<PeerId, Peer>();
  readonly #tracks = new Map<TrackSid, PublishedTrack>();
  // A subscription may arrive before its track, which exists only once its offer is being answered.
  readonly #awaited = new Map<TrackSid, Map<PeerId, string>>();
  readonly #port: { close(): void };
  readonly #timers: NodeJS.Timeout[];
  #heard = 0;

  constructor(settings: MediaSettings, emit: Emit) {
    this.#settings = settings;
    this.#emit = emit;
    this.#port = openSharedPort(settings.udpPort, settings.bindAddress);
    this.#timers = [
      setInterval(() => this.#emitLevels(), settings.levelIntervalMs),
      setInterval(() => this.#emitLosses(), REPORT_EVERY_MS),
    ];
  }

  execute(command: MediaCommand): void {
    switch (command.type) {
      case "open":
        return this.#open(command.peer, command.address);
      case "publisher-offer":
        return void this.#answerOffer(command).catch((error: unknown) => this.#refuse(command.peer, error));
      case "subscriber-answer":
        try {
          return this.#subscriber(command.peer)?.answered(command.offerId, command.sdp);
        } catch (error) {
          return this.#refuse(command.peer, error);
        }
      case "candidate": {
        const peer = this.#peers.get(command.peer);
        const connection = command.side === "publisher" ? peer?.publisher : peer?.subscriber;
        return connection?.addCandidate(command.candidate, command.mid);
      }
      case "subscribe":
        return this.#subscribe(command);
      case "unsubscribe":
        this.#awaited.get(command.track)?.delete(command.peer);
        return this.#subscriber(command.peer)?.unsubscribe(command.track);
      case "unpublish":
        this.#awaited.delete(command.track);
        return void this.#tracks.delete(command.track);
      case "set-muted":
        return this.#tracks.get(command.track)?.setMuted(command.muted);
      case "pause":
        return this.#tracks.get(command.track)?.setPaused(command.peer, command.paused);
      case "send-data":
        for (const peer of command.peers) this.#subscriber(peer)?.send(command.kind, command.bytes);
        return;
      case "resume":
        return this.#subscriber(command.peer)?.offerAgain();
      case "close":
        return this.#close(command.peer);
      default:
        return command satisfies never;
    }
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const id of [...this.#peers.keys()]) this.#close(id);
    this.#port.close();
  }

  #subscriber(peer: PeerId): SubscriberConnection | undefined {
    return this.#peers.get(peer)?.subscriber;
  }

  #open(peer: PeerId, address: string | undefined): void {
    if (this.#peers.has(peer)) return;
    const emit = this.#emit;
    const settings =
      address === undefined ? this.#settings : { ...this.#settings, announcedAddress: address };
    const subscriber = createSubscriberConnection({
      peer,
      settings,
      problem: (error) => this.#report(error),
      changed: (state) => emit({ type: "connection-state", peer, side: "subscriber", state }),
      offer: (offer) => emit({ type: "subscriber-offer", peer, ...offer }),
      subscribed: (track) => emit({ type: "subscribed", peer, track }),
      full: (reason) => emit({ type: "full", peer, reason }),
    });
    this.#peers.set(peer, { settings, publisher: undefined, subscriber, published: new Set() });
  }

  #openPublisher(peer: PeerId, { settings, published }: Peer): PublisherConnection {
    return createPublisherConnection({
      settings,
      problem: (error) => this.#report(error),
      changed: (state) => this.#emit({ type: "connection-state", peer, side: "publisher", state }),
      published: (track) => {
        published.add(track.sid);
        this.#tracks.set(track.sid, track);
        for (const [subscriber, streamId] of this.#awaited.get(track.sid) ?? [])
          this.#subscriber(subscriber)?.subscribe(track, streamId);
        this.#awaited.delete(track.sid);
      },
      data: (kind, bytes) => this.#emit({ type: "data", peer, kind, bytes }),
    });
  }

  async #answerOffer({ peer: id, offerId, sdp, tracks: sections }: PublisherOffer): Promise<void> {
    const peer = this.#peers.get(id);
    if (!peer) return;
    peer.publisher ??= this.#openPublisher(id, peer);
    const answer = await peer.publisher.answer(sdp, sections);
    if (this.#peers.has(id)) this.#emit({ type: "publisher-answer", peer: id, offerId, sdp: answer });
  }

  #subscribe({ peer, track: sid, streamId }: Extract<MediaCommand, { type: "subscribe" }>): void {
    const track = this.#tracks.get(sid);
    if (track) return this.#subscriber(peer)?.subscribe(track, streamId);
    const waiting = this.#awaited.get(sid) ?? new Map<PeerId, string>();
    this.#awaited.set(sid, waiting);
    return void waiting.set(peer, streamId);
  }

  #close(id: PeerId): void {
    const peer = this.#peers.get(id);
    if (!peer) return;
    this.#peers.delete(id);
    for (const sid of peer.published) this.#tracks.delete(sid);
    for (const [sid, waiting] of this.#awaited)
      if (waiting.delete(id) && waiting.size === 0) this.#awaited.delete(sid);
    peer.publisher?.close();
    peer.subscriber.close();
  }

  /** Sends a peer with a bad description away. If the cause is unclear, it may be ours: the peer connects anew. */
  #refuse(peer: PeerId, error: unknown): void {
    if (!this.#peers.has(peer)) return;
    if (error instanceof DescriptionRefused)
      return this.#emit({ type: "refused", peer, reason: `The session description ${error.message}` });
    this.#report(error);
    return this.#emit({ type: "full", peer, reason: "the session description does not fit" });
  }

  #report(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#emit({ type: "problem", error: text });
  }

  #emitLevels(): void {
    const levels = [...this.#tracks.values()].flatMap((track) => track.takeLevel() ?? []);
    if (levels.length > 0 || this.#heard > 0) this.#emit({ type: "levels", levels }); // silence is reported once
    this.#heard = levels.length;
  }

  #emitLosses(): void {
    const nowMs = performance.now();
    const losses = [...this.#tracks.values()].flatMap((track) => track.report(nowMs) ?? []);
    if (losses.length > 0) this.#emit({ type: "losses", losses });
  }
}
