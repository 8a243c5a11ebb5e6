// A browser's end of a call, in a process of its own, since the native library serves one thread of a process
// only.
import ndc from "node-datachannel";
import { setTimeout } from "node:timers/promises";
import { createOpusDecoder } from "../media/opus.ts";
import { readRtcp } from "../media/rtp/rtcp.ts";
import { parseRtpPacket, writeRtpPacket } from "../media/rtp/rtp.ts";

/** Commands of the parent. */
export type PeerCommand =
  | { type: "accept"; answer: string }
  /** Sends silence in real time, and drops the last of each `loseEvery` packets. */
  | { type: "send"; packets: number; loseEvery: number };

/** Events reported to the parent. */
export type PeerNews =
  | { type: "offer"; sdp: string }
  | { type: "connected" }
  | { type: "reported"; lostPercent: number }
  | { type: "heard"; samples: number[]; sampleRateHz: number };

const OPUS = 111;
const VOICE_SSRC = 0x5eed;
const SILENCE = Uint8Array.of(0xf8, 0xff, 0xfe);
const RATE_HZ = 24_000;
const IDLE_PAYLOAD_BYTES = 3; // Opus' own silence

const decoder = await createOpusDecoder({ sampleRateHz: RATE_HZ });
const peer = new ndc.PeerConnection("client", { iceServers: [], disableAutoNegotiation: true });
const microphone = new ndc.Audio("0", "SendRecv");
microphone.addOpusCodec(OPUS);
microphone.addSSRC(VOICE_SSRC, "client", "client", "microphone");
const voice = peer.addTrack(microphone);
voice.onClosed(() => undefined);
voice.onMessage((bytes) => {
  const packet = parseRtpPacket(bytes);
  for (const { ssrc, fractionLost } of packet ? [] : readRtcp(bytes).receptions)
    if (ssrc === VOICE_SSRC) tell({ type: "reported", lostPercent: (fractionLost / 256) * 100 });
  if (!packet) return;
  const samples = decoder.decode(packet.payload);
  if (packet.payload.length > IDLE_PAYLOAD_BYTES)
    tell({ type: "heard", samples: [...samples], sampleRateHz: RATE_HZ });
});
const channel = peer.createDataChannel("chat");
channel.onClosed(() => undefined);
channel.onOpen(() => tell({ type: "connected" }));
peer.onGatheringStateChange((state) => {
  if (state === "complete") tell({ type: "offer", sdp: peer.localDescription()?.sdp ?? "" });
});
peer.setLocalDescription("offer");

process.on("message", (command: PeerCommand) => {
  if (command.type === "accept") peer.setRemoteDescription(command.answer, "answer");
  else void send(command.packets, command.loseEvery);
});

async function send(packets: number, loseEvery: number): Promise<void> {
  for (let number = 1; number <= packets; number += 1) {
    const fields = { payloadType: OPUS, marker: false, ssrc: VOICE_SSRC, payload: SILENCE };
    const packet = writeRtpPacket({ ...fields, sequenceNumber: number, timestamp: 960 * number });
    if (number % loseEvery !== 0 && voice.isOpen()) voice.sendMessageBinary(packet);
    await setTimeout(20);
  }
}

process.on("disconnect", () => {
  for (const part of [voice, channel]) part.close();
  peer.close();
  ndc.cleanup();
});

function tell(news: PeerNews): void {
  if (process.connected) process.send?.(news, () => undefined); // the parent may have gone meanwhile
}
