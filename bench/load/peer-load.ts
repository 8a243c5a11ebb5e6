// Callers over WebRTC. Packets are encoded once; sending one is a few writes into its header.
import { readSettings, serveLoad, type Caller, type Counts } from "./callers.ts";
import { connectPeer, OPUS_PAYLOAD_TYPE } from "./peer.ts";
import { encodeCall } from "./speech.ts";

/** Upper half of every SSRC of ours, so that a capture can tell the two directions apart. */
const SSRC_BASE = 0x5eed_0000;
const PINGS_EVERY_PACKETS = 50; // released clients ping once a second
const TIMESTAMPS_PER_PACKET = 960;

const settings = readSettings();
const packets = (await encodeCall(settings.pauseMs)).map((payload) => {
  const packet = Buffer.alloc(12 + payload.length);
  packet[0] = 0x80;
  packet[1] = OPUS_PAYLOAD_TYPE;
  packet.set(payload, 12);
  return packet;
});
serveLoad(open);

async function open(index: number, counts: Counts): Promise<Caller> {
  const ssrc = SSRC_BASE + index;
  let lastMs: number | undefined;
  const listen = (packet: Buffer): void => {
    if (packet[1] !== OPUS_PAYLOAD_TYPE) return;
    const nowMs = performance.now();
    if (lastMs !== undefined) counts.gapsMs.push(nowMs - lastMs);
    lastMs = nowMs;
    counts.received += 1;
  };
  const peer = await connectPeer({
    url: settings.url,
    ssrc,
    ...(settings.listen ? { onPacket: listen } : {}),
  });
  const first = Math.floor(Math.random() * packets.length);
  let count = 0;
  return {
    connectMs: peer.connectMs,
    serverSsrc: peer.serverSsrc,
    speak() {
      const packet = packets[(first + count) % packets.length]!;
      packet.writeUInt16BE(count & 0xffff, 2);
      packet.writeUInt32BE((count * TIMESTAMPS_PER_PACKET) >>> 0, 4);
      packet.writeUInt32BE(ssrc, 8);
      peer.track.sendMessageBinary(packet);
      if (count % PINGS_EVERY_PACKETS === 0) peer.ping();
      count += 1;
    },
    close: () => peer.close(),
  };
}
