import { SmallWebRTCTransport } from "@pipecat-ai/small-webrtc-transport";
import { fromPeerStats, type LinkSample, type PeerStat } from "../figures/link-figures.ts";
import { PeerMedia } from "../media/peer-media.ts";
import type { Link, LinkOptions } from "../connection/link.ts";

export function createWebrtcLink(options: LinkOptions): Link {
  const media = new PeerMedia(options);
  media.onPlaybackBlocked = options.onPlaybackBlocked;
  const transport = new SmallWebRTCTransport({ mediaManager: media, waitForICEGathering: true });
  return {
    transport,
    media,
    startRequest: { transport: "webrtc", enableDefaultIceServers: false },
    failure: "connection-failed",
    toConnectParams(answer, server) {
      const offer = server.offerTo?.(answer);
      if (!offer) return answer;
      const { iceConfig } = (answer ?? {}) as { iceConfig?: unknown };
      const webrtcRequestParams = { endpoint: offer.url, headers: new Headers(offer.headers) };
      return { webrtcRequestParams, ...(iceConfig === undefined ? {} : { iceConfig }) };
    },
    playBot: (track) => media.playBot(track),
    followBot() {
      // After a rebuild the transport may take the end of the old track for that of the new one, and say nothing.
      const track = peerOf(transport)?.getTransceivers()[0]?.receiver.track;
      if (track && !track.muted) media.playBot(track);
    },
    resumePlayback: () => media.play(),
    handleMessage() {},
    async sendMicrophone() {
      const sender = peerOf(transport)?.getTransceivers()[0]?.sender;
      await sender?.replaceTrack(media.microphone.copy() ?? null);
    },
    isHungUp() {
      const channel: unknown = Reflect.get(transport, "dc");
      return channel instanceof RTCDataChannel && channel.readyState === "closed";
    },
    isInterrupted() {
      const state = peerOf(transport)?.iceConnectionState;
      return state !== "connected" && state !== "completed";
    },
    async sample(atMs): Promise<LinkSample> {
      const report = await peerOf(transport)?.getStats();
      return fromPeerStats((report?.values() ?? []) as Iterable<PeerStat>, atMs);
    },
    abandon: () => peerOf(transport)?.close(),
  };
}

/** The transport keeps its peer connection to itself; statistics and track changes need it. */
function peerOf(transport: object): RTCPeerConnection | undefined {
  const peer: unknown = Reflect.get(transport, "pc");
  return peer instanceof RTCPeerConnection ? peer : undefined;
}
