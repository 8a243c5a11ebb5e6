// A browser's end of a call. A process of its own: the library behind it serves one thread of a process only.
import ndc from "node-datachannel";
import { createOpusDecoder } from "../audio/opus.ts";
import { parseRtpPacket } from "../audio/rtp.ts";

/** What the parent is told; it sends the answer's SDP. */
export type PeerNews =
  | { type: "offer"; sdp: string }
  | { type: "connected" }
  | { type: "heard"; samples: number[]; sampleRateHz: number };

const OPUS = 111;
const RATE_HZ = 24_000;
const CANDIDATE_LINES = /a=(?:candidate:.*|end-of-candidates)\r\n/g;
const IDLE_PAYLOAD_BYTES = 3; // Opus' own silence

const decoder = await createOpusDecoder({ sampleRateHz: RATE_HZ });
const peer = new ndc.PeerConnection("client", { iceServers: [], disableAutoNegotiation: true });
const microphone = new ndc.Audio("0", "SendRecv");
microphone.addOpusCodec(OPUS);
microphone.addSSRC(0x5eed, "client", "client", "microphone");
const voice = peer.addTrack(microphone);
voice.onClosed(() => undefined);
voice.onMessage((bytes) => {
  const packet = parseRtpPacket(bytes);
  if (!packet) return;
  const samples = decoder.decode(packet.payload);
  if (packet.payload.length > IDLE_PAYLOAD_BYTES)
    tell({ type: "heard", samples: [...samples], sampleRateHz: RATE_HZ });
});
const channel = peer.createDataChannel("chat");
channel.onClosed(() => undefined);
channel.onOpen(() => tell({ type: "connected" }));
peer.onGatheringStateChange((state) => {
  // Without candidates: checks that come before the answer would begin DTLS before its fingerprint is known.
  const sdp = peer.localDescription()?.sdp.replace(CANDIDATE_LINES, "") ?? "";
  if (state === "complete") tell({ type: "offer", sdp });
});
peer.setLocalDescription("offer");

process.on("message", (answer: string) => peer.setRemoteDescription(answer, "answer"));
process.on("disconnect", () => {
  for (const part of [voice, channel]) part.close();
  peer.close();
  ndc.cleanup();
});

function tell(news: PeerNews): void {
  if (process.connected) process.send?.(news, () => undefined); // the parent may have gone meanwhile
}
