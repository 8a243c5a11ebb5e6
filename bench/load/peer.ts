import ndc from "node-datachannel";
import type { PeerConnection, Track } from "node-datachannel";
import { once } from "node:events";
import { pause } from "../machine/child.ts";

/** A caller's peer connection, offering what released clients offer. */
export interface OfferedPeer {
  readonly track: Track;
  /** Under which the server speaks. */
  readonly serverSsrc: number;
  /** Resolves once media may flow, with the time since the offer. */
  connected(): Promise<number>;
  ping(): void;
  close(): void;
}

export interface PeerOptions {
  url: string;
  ssrc: number;
  onPacket?: (packet: Buffer) => void;
  /** The offer leaves now. */
  onOffer?: () => void;
}

export const OPUS_PAYLOAD_TYPE = 111;
const CONNECT_DEADLINE_MS = 15_000;
const ATTEMPTS = 4;

/** Resolves once the server has answered. */
export async function offerPeer(options: PeerOptions): Promise<OfferedPeer> {
  const connection = new ndc.PeerConnection("load", { iceServers: [], disableAutoNegotiation: true });
  const track = addMedia(connection, options.ssrc);
  const channel = connection.createDataChannel("chat");
  if (options.onPacket) track.onMessage(options.onPacket);
  const sdp = await gatheredOffer(connection);
  const sentMs = performance.now();
  options.onOffer?.();
  const response = await fetch(`${options.url}/api/offer`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ sdp, type: "offer" }),
  });
  const answer = (await response.json()) as { sdp: string };
  if (!response.ok) throw new Error(`The offer was refused: ${JSON.stringify(answer)}`);
  connection.setRemoteDescription(answer.sdp, "answer");
  return {
    track,
    async connected() {
      while (!track.isOpen() || !channel.isOpen()) {
        const waitedMs = performance.now() - sentMs;
        const isOver = ["closed", "failed"].includes(connection.state());
        if (isOver || waitedMs > CONNECT_DEADLINE_MS) throw new Error(`Connection ${connection.state()}`);
        await pause(2);
      }
      return performance.now() - sentMs;
    },
    serverSsrc: Number(/^a=ssrc:(\d+)/m.exec(answer.sdp)?.[1]),
    ping: () => void (channel.isOpen() && channel.sendMessage(`ping: ${Date.now()}`)),
    close: () => connection.close(),
  };
}

export interface ConnectedPeer extends OfferedPeer {
  readonly connectMs: number;
}

/** About one offer in a hundred of this client library fails on its own side, before it meets the server. */
export async function connectPeer(options: PeerOptions): Promise<ConnectedPeer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const peer = await offerPeer(options);
      return Object.assign(peer, { connectMs: await peer.connected() });
    } catch (error) {
      if (attempt >= ATTEMPTS) throw error;
    }
  }
}

async function gatheredOffer(connection: PeerConnection): Promise<string> {
  const gathered = new EventTarget();
  connection.onGatheringStateChange((state) => {
    if (state === "complete") gathered.dispatchEvent(new Event("complete"));
  });
  const complete = once(gathered, "complete", { signal: AbortSignal.timeout(CONNECT_DEADLINE_MS) });
  connection.setLocalDescription("offer");
  await complete;
  return connection.localDescription()?.sdp ?? "";
}

function addMedia(connection: PeerConnection, ssrc: number): Track {
  const microphone = new ndc.Audio("0", "SendRecv");
  microphone.addOpusCodec(OPUS_PAYLOAD_TYPE);
  microphone.addSSRC(ssrc, "load", "load", "microphone");
  const track = connection.addTrack(microphone);
  track.setMediaHandler(new ndc.RtcpReceivingSession());
  for (const [mid, direction] of [
    ["1", "SendRecv"],
    ["2", "SendOnly"],
  ] as const) {
    const video = new ndc.Video(mid, direction);
    video.addVP8Codec(96);
    connection.addTrack(video);
  }
  return track;
}
