// Child process: sends beeps to an echo bot and says how long each took to come back.
import { createBeepFinder, BEEP_EVERY_PACKETS, codecDelayMs, encodeBeeps } from "./beeps.ts";
import { serveLoad, readSettings, type Caller, type Counts } from "./callers.ts";
import { OPUS_PAYLOAD_TYPE, connectPeer } from "./peer.ts";

const RTP_HEADER_BYTES = 12;

const settings = readSettings();
const payloads = await encodeBeeps();
const delayMs = await codecDelayMs(payloads);
serveLoad(open);

/** Times from packet in to packet out go where other loads put gaps; the codecs' delay is taken off. */
async function open(index: number, counts: Counts): Promise<Caller> {
  const finder = await createBeepFinder();
  let sentMs = 0;
  const onPacket = (packet: Buffer): void => {
    if (packet[1] !== OPUS_PAYLOAD_TYPE) return;
    const nowMs = performance.now();
    const at = finder.find(packet.subarray(RTP_HEADER_BYTES));
    if (at !== undefined && sentMs > 0) counts.gapsMs.push(nowMs + at - sentMs - delayMs);
  };
  const peer = await connectPeer({ url: settings.url, ssrc: 0x5eed_0000 + index, onPacket });
  let count = 0;
  return {
    connectMs: peer.connectMs,
    speak() {
      const payload = payloads[count % payloads.length]!;
      const packet = Buffer.alloc(RTP_HEADER_BYTES + payload.length);
      packet[0] = 0x80;
      packet[1] = OPUS_PAYLOAD_TYPE;
      packet.writeUInt16BE(count & 0xffff, 2);
      packet.writeUInt32BE((count * 960) >>> 0, 4);
      packet.writeUInt32BE(0x5eed_0000 + index, 8);
      packet.set(payload, RTP_HEADER_BYTES);
      if (count % BEEP_EVERY_PACKETS === 0) sentMs = performance.now();
      peer.track.sendMessageBinary(packet);
      count += 1;
    },
    close: () => peer.close(),
  };
}
