// The few RTCP packets a forwarding server reads and writes.

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const TRANSPORT_FEEDBACK = 205;
const PAYLOAD_FEEDBACK = 206;
const LOST_PACKETS = 1;
const PICTURE_LOSS = 1;
const FULL_INTRA_REQUEST = 4;

/** A sender's clock report; our reports return the middle 32 bits of its time. */
export interface SenderReport {
  ssrc: number;
  ntpSeconds: number;
  ntpFraction: number;
  timestamp: number;
}

export interface ReceptionReport {
  ssrc: number;
  /** 0 to 255. */
  fractionLost: number;
  lost: number;
  highestSequence: number;
  jitter: number;
  lastReport: number;
  delaySinceLastReport: number;
}

/** Calls back for each packet of a compound one. Never throws. */
export function* rtcpPackets(compound: Buffer): Generator<Buffer> {
  for (let place = 0; place + 4 <= compound.length;) {
    const length = 4 * (compound.readUInt16BE(place + 2) + 1);
    if (place + length > compound.length) return;
    yield compound.subarray(place, place + length);
    place += length;
  }
}

export function readSenderReport(packet: Buffer): SenderReport | undefined {
  if (packet[1] !== SENDER_REPORT || packet.length < 28) return undefined;
  return {
    ssrc: packet.readUInt32BE(4),
    ntpSeconds: packet.readUInt32BE(8),
    ntpFraction: packet.readUInt32BE(12),
    timestamp: packet.readUInt32BE(16),
  };
}

/** The receiver cannot go on without a key frame. */
export function isKeyFrameRequest(packet: Buffer): boolean {
  const format = (packet[0] ?? 0) & 0x1f;
  return packet[1] === PAYLOAD_FEEDBACK && (format === PICTURE_LOSS || format === FULL_INTRA_REQUEST);
}

/** Sequence numbers that the receiver of a source asks for again; each entry names one and marks up to 16 after it. */
export function* lostPackets(packet: Buffer): Generator<number> {
  if (packet[1] !== TRANSPORT_FEEDBACK || ((packet[0] ?? 0) & 0x1f) !== LOST_PACKETS) return;
  for (let place = 12; place + 4 <= packet.length; place += 4) {
    const first = packet.readUInt16BE(place);
    const after = packet.readUInt16BE(place + 2);
    yield first;
    for (let bit = 0; bit < 16; bit += 1) if (after & (1 << bit)) yield (first + bit + 1) & 0xffff;
  }
}

/** The source that feedback is about. */
export function sourceOfFeedback(packet: Buffer): number | undefined {
  return packet.length >= 12 ? packet.readUInt32BE(8) : undefined;
}

export function writeKeyFrameRequest({
  senderSsrc,
  mediaSsrc,
}: {
  senderSsrc: number;
  mediaSsrc: number;
}): Buffer {
  const packet = header({ count: PICTURE_LOSS, type: PAYLOAD_FEEDBACK, bytes: 12 });
  packet.writeUInt32BE(senderSsrc, 4);
  packet.writeUInt32BE(mediaSsrc, 8);
  return packet;
}

export function writeReceiverReport(senderSsrc: number, report: ReceptionReport): Buffer {
  const packet = header({ count: 1, type: RECEIVER_REPORT, bytes: 32 });
  packet.writeUInt32BE(senderSsrc, 4);
  packet.writeUInt32BE(report.ssrc, 8);
  packet.writeUInt32BE(((report.fractionLost << 24) | (Math.max(0, report.lost) & 0xffffff)) >>> 0, 12);
  packet.writeUInt32BE(report.highestSequence >>> 0, 16);
  packet.writeUInt32BE(report.jitter >>> 0, 20);
  packet.writeUInt32BE(report.lastReport >>> 0, 24);
  packet.writeUInt32BE(report.delaySinceLastReport >>> 0, 28);
  return packet;
}

export function writeSenderReport(report: SenderReport & { packets: number; octets: number }): Buffer {
  const packet = header({ count: 0, type: SENDER_REPORT, bytes: 28 });
  packet.writeUInt32BE(report.ssrc, 4);
  packet.writeUInt32BE(report.ntpSeconds, 8);
  packet.writeUInt32BE(report.ntpFraction, 12);
  packet.writeUInt32BE(report.timestamp >>> 0, 16);
  packet.writeUInt32BE(report.packets >>> 0, 20);
  packet.writeUInt32BE(report.octets >>> 0, 24);
  return packet;
}

function header({ count, type, bytes }: { count: number; type: number; bytes: number }): Buffer {
  const packet = Buffer.alloc(bytes);
  packet[0] = 0x80 | count;
  packet[1] = type;
  packet.writeUInt16BE(bytes / 4 - 1, 2);
  return packet;
}
