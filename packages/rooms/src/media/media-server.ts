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
  /** With what this one is told instead of what all are. */
  settings: MediaSettings;
  publisher: PublisherConnection | undefined;
  subscriber: SubscriberConnection;
  published: Set<TrackSid>;
}

const REPORT_EVERY_MS = 2_000;

export function createMediaServer(settings: MediaSettings, emit: (event: MediaEvent) => void): MediaServer {
  const peers = new Map<PeerId, Peer>();
  const tracks = new Map<TrackSid, PublishedTrack>();
  // A subscription may come before its track, which is only there once its offer is being answered.
  const awaited = new Map<TrackSid, Map<PeerId, string>>();
  const port = openSharedPort(settings.udpPort, settings.bindAddress);
  const problem = (error: unknown): void =>
    emit({ type: "problem", error: error instanceof Error ? (error.stack ?? error.message) : String(error) });

  function open(peer: PeerId, address: string | undefined): void {
    if (peers.has(peer)) return;
    const own = address === undefined ? settings : { ...settings, announcedAddress: address };
    const subscriber = createSubscriberConnection({
      peer,
      settings: own,
      problem,
      changed: (state) => emit({ type: "connection-state", peer, side: "subscriber", state }),
      offer: (offer) => emit({ type: "subscriber-offer", peer, ...offer }),
      subscribed: (track) => emit({ type: "subscribed", peer, track }),
      full: (reason) => emit({ type: "full", peer, reason }),
    });
    peers.set(peer, { settings: own, publisher: undefined, subscriber, published: new Set() });
  }

  function openPublisher(peer: PeerId, { settings: own, published }: Peer): PublisherConnection {
    return createPublisherConnection({
      settings: own,
      problem,
      changed: (state) => emit({ type: "connection-state", peer, side: "publisher", state }),
      published(track) {
        published.add(track.sid);
        tracks.set(track.sid, track);
        for (const [subscriber, streamId] of awaited.get(track.sid) ?? [])
          peers.get(subscriber)?.subscriber.subscribe(track, streamId);
        awaited.delete(track.sid);
      },
      data: (kind, bytes) => emit({ type: "data", peer, kind, bytes }),
    });
  }

  async function answerOffer({ peer: id, offerId, sdp, tracks: sections }: PublisherOffer): Promise<void> {
    const peer = peers.get(id);
    if (!peer) return;
    peer.publisher ??= openPublisher(id, peer);
    const answer = await peer.publisher.answer(sdp, sections);
    if (peers.has(id)) emit({ type: "publisher-answer", peer: id, offerId, sdp: answer });
  }

  function subscribe({ peer, track: sid, streamId }: Extract<MediaCommand, { type: "subscribe" }>): void {
    const track = tracks.get(sid);
    if (track) return peers.get(peer)?.subscriber.subscribe(track, streamId);
    const waiting = awaited.get(sid) ?? new Map<PeerId, string>();
    awaited.set(sid, waiting);
    return void waiting.set(peer, streamId);
  }

  function close(id: PeerId): void {
    const peer = peers.get(id);
    if (!peer) return;
    peers.delete(id);
    for (const sid of peer.published) tracks.delete(sid);
    for (const [sid, waiting] of awaited) if (waiting.delete(id) && waiting.size === 0) awaited.delete(sid);
    peer.publisher?.close();
    peer.subscriber.close();
  }

  /** Whose description is bad is sent away. Where we cannot tell why it does not fit, it may be us: they connect anew. */
  function refuse(peer: PeerId, error: unknown): void {
    if (!peers.has(peer)) return;
    if (error instanceof DescriptionRefused)
      return emit({ type: "refused", peer, reason: `The session description ${error.message}` });
    problem(error);
    return emit({ type: "full", peer, reason: "the session description does not fit" });
  }

  function execute(command: MediaCommand): void {
    switch (command.type) {
      case "open":
        return open(command.peer, command.address);
      case "publisher-offer":
        return void answerOffer(command).catch((error: unknown) => refuse(command.peer, error));
      case "subscriber-answer":
        try {
          return peers.get(command.peer)?.subscriber.answered(command.offerId, command.sdp);
        } catch (error) {
          return refuse(command.peer, error);
        }
      case "candidate": {
        const peer = peers.get(command.peer);
        const connection = command.side === "publisher" ? peer?.publisher : peer?.subscriber;
        return connection?.addCandidate(command.candidate, command.mid);
      }
      case "subscribe":
        return subscribe(command);
      case "unsubscribe":
        awaited.get(command.track)?.delete(command.peer);
        return peers.get(command.peer)?.subscriber.unsubscribe(command.track);
      case "unpublish":
        awaited.delete(command.track);
        return void tracks.delete(command.track);
      case "set-muted":
        return tracks.get(command.track)?.setMuted(command.muted);
      case "pause":
        return tracks.get(command.track)?.setPaused(command.peer, command.paused);
      case "send-data":
        for (const peer of command.peers) peers.get(peer)?.subscriber.send(command.kind, command.bytes);
        return;
      case "resume":
        return peers.get(command.peer)?.subscriber.offerAgain();
      case "close":
        return close(command.peer);
      default:
        return command satisfies never;
    }
  }

  let heard = 0;
  const levelTimer = setInterval(() => {
    const levels = [...tracks.values()].flatMap((track) => track.takeLevel() ?? []);
    if (levels.length > 0 || heard > 0) emit({ type: "levels", levels }); // silence is told once
    heard = levels.length;
  }, settings.levelIntervalMs);
  const reportTimer = setInterval(() => {
    const nowMs = performance.now();
    const losses = [...tracks.values()].flatMap((track) => track.report(nowMs) ?? []);
    if (losses.length > 0) emit({ type: "losses", losses });
  }, REPORT_EVERY_MS);

  return {
    execute,
    [Symbol.dispose]() {
      clearInterval(levelTimer);
      clearInterval(reportTimer);
      for (const id of [...peers.keys()]) close(id);
      port.close();
    },
  };
}

type PublisherOffer = Extract<MediaCommand, { type: "publisher-offer" }>;
