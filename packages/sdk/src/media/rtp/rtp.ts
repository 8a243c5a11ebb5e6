/** Returns undefined for bytes that are not RTP, such as RTCP on the same port. Never throws. */
export function parseRtpPacket(bytes: Uint8Array): RtpPacket | undefined {
  if (bytes.length < FIXED_HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint8(0);
  const kind = view.getUint8(1);
  if (flags >> 6 !== RTP_VERSION || isRtcp(kind)) return undefined;

  let payloadStart = FIXED_HEADER_BYTES + 4 * (flags & CSRC_COUNT_MASK);
  if (flags & EXTENSION_FLAG) {
    if (bytes.length < payloadStart + 4) return undefined;
    payloadStart += 4 + 4 * view.getUint16(payloadStart + 2);
  }
  let payloadEnd = bytes.length;
  if (flags & PADDING_FLAG) {
    const paddingBytes = view.getUint8(bytes.length - 1);
    if (paddingBytes === 0) return undefined;
    payloadEnd -= paddingBytes;
  }
  if (payloadStart > payloadEnd) return undefined;

  return {
    payloadType: kind & PAYLOAD_TYPE_MASK,
    marker: (kind & MARKER_FLAG) !== 0,
    sequenceNumber: view.getUint16(2),
    timestamp: view.getUint32(4),
    ssrc: view.getUint32(8),
    payload: bytes.subarray(payloadStart, payloadEnd),
  };
}

/** Numbers beyond their field's width wrap around, so that callers can simply count up. */
export function writeRtpPacket(packet: RtpPacket): Buffer {
  const bytes = Buffer.allocUnsafe(FIXED_HEADER_BYTES + packet.payload.length);
  bytes[0] = RTP_VERSION << 6;
  bytes[1] = (packet.marker ? MARKER_FLAG : 0) | (packet.payloadType & PAYLOAD_TYPE_MASK);
  bytes.writeUInt16BE(packet.sequenceNumber & 0xffff, 2);
  bytes.writeUInt32BE(packet.timestamp >>> 0, 4);
  bytes.writeUInt32BE(packet.ssrc >>> 0, 8);
  bytes.set(packet.payload, FIXED_HEADER_BYTES);
  return bytes;
}

export interface RtpPacket {
  payloadType: number;
  marker: boolean;
  sequenceNumber: number;
  timestamp: number;
  ssrc: number;
  /** When parsed: a view on the packet's bytes. */
  payload: Uint8Array;
}

const RTP_VERSION = 2;
const FIXED_HEADER_BYTES = 12;
const PADDING_FLAG = 0x20;
const EXTENSION_FLAG = 0x10;
const CSRC_COUNT_MASK = 0x0f;
const MARKER_FLAG = 0x80;
const PAYLOAD_TYPE_MASK = 0x7f;

// RFC 5761: packet types 192 to 223 are RTCP when both share a port.
function isRtcp(kind: number): boolean {
  return kind >= 192 && kind <= 223;
}
