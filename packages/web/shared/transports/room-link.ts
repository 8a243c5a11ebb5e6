import { ConnectionState } from "livekit-client";
import { fromPeerStats, type LinkSample, type PeerStat } from "../figures/link-figures.ts";
import { PeerMedia } from "../media/peer-media.ts";
import type { Link, LinkOptions } from "../connection/link.ts";
import { RoomTransport, type RoomPlace } from "./room-transport.ts";

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
