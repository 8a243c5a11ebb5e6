/** The part of a captured RTP packet that tells about timing. */
export interface CapturedPacket {
  atMs: number;
  ssrc: number;
  sequenceNumber: number;
}

const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
const ETHERNET_BYTES = 14;
const IPV6_BYTES = 40;
const UDP_BYTES = 8;

/** Reads a capture file of RTP packets on a loopback interface. */
export function parseCapture(file: Buffer): CapturedPacket[] {
  const packets: CapturedPacket[] = [];
  for (let at = FILE_HEADER_BYTES; at + RECORD_HEADER_BYTES <= file.length;) {
    const atMs = file.readUInt32LE(at) * 1000 + file.readUInt32LE(at + 4) / 1000;
    const storedBytes = file.readUInt32LE(at + 8);
    const ip = at + RECORD_HEADER_BYTES + ETHERNET_BYTES;
    const firstByte = file.readUInt8(ip);
    const rtp = ip + (firstByte >> 4 === 6 ? IPV6_BYTES : 4 * (firstByte & 0x0f)) + UDP_BYTES;
    at += RECORD_HEADER_BYTES + storedBytes;
    if (at > file.length) break; // the last record may be cut short
    packets.push({ atMs, ssrc: file.readUInt32BE(rtp + 8), sequenceNumber: file.readUInt16BE(rtp + 2) });
  }
  return packets;
}
