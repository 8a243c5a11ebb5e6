/** A receiver's report on a stream: RFC 3550, section 6.4. */
export interface ReceptionReport {
  ssrc: number;
  /** Since the report before, 0 to 255 of 256. */
  fractionLost: number;
  /** Since the beginning. */
  lost: number;
  /** Includes the count of wraps in the upper bits. */
  highestSequence: number;
  /** In units of the stream's clock. */
  jitter: number;
  /** The middle 32 bits of the last sender report's time; 0 before the first. */
  lastReport: number;
  /** In units of 1/65536 s. */
  delaySinceLastReport: number;
}

/** The other side's report: its own stream's clock, and the reception of ours. */
export interface RtcpNews {
  sender: { ssrc: number; reportId: number } | undefined;
  receptions: Pick<ReceptionReport, "ssrc" | "fractionLost">[];
}

/** Reads the relevant parts of a compound packet. Never throws. */
export function readRtcp(compound: Buffer): RtcpNews {
  const news: RtcpNews = { sender: undefined, receptions: [] };
  for (let place = 0; place + HEADER_BYTES <= compound.length;) {
    const length = 4 * (compound.readUInt16BE(place + 2) + 1);
    if (place + length > compound.length) break;
    readPacket(compound.subarray(place, place + length), news);
    place += length;
  }
  return news;
}

export function writeReceiverReport(senderSsrc: number, report: ReceptionReport): Buffer {
  const packet = Buffer.alloc(HEADER_BYTES + BLOCK_BYTES);
  packet[0] = (RTP_VERSION << 6) | 1;
  packet[1] = RECEIVER_REPORT;
  packet.writeUInt16BE(packet.length / 4 - 1, 2);
  packet.writeUInt32BE(senderSsrc, 4);
  packet.writeUInt32BE(report.ssrc, 8);
  packet.writeUInt32BE(((report.fractionLost << 24) | (report.lost & 0x7fffff)) >>> 0, 12);
  packet.writeUInt32BE(report.highestSequence >>> 0, 16);
  packet.writeUInt32BE(report.jitter >>> 0, 20);
  packet.writeUInt32BE(report.lastReport >>> 0, 24);
  packet.writeUInt32BE(report.delaySinceLastReport >>> 0, 28);
  return packet;
}

const RTP_VERSION = 2;
const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const HEADER_BYTES = 8;
const SENDER_INFO_BYTES = 20;
const BLOCK_BYTES = 24;

function readPacket(packet: Buffer, news: RtcpNews): void {
  const [flags = 0, type] = packet;
  const isSender = type === SENDER_REPORT;
  if (flags >> 6 !== RTP_VERSION || !(isSender || type === RECEIVER_REPORT)) return;
  const blocksAt = HEADER_BYTES + (isSender ? SENDER_INFO_BYTES : 0);
  if (packet.length < blocksAt) return;
  if (isSender) news.sender = { ssrc: packet.readUInt32BE(4), reportId: packet.readUInt32BE(10) };
  const count = Math.min(flags & 0x1f, Math.floor((packet.length - blocksAt) / BLOCK_BYTES));
  for (let at = blocksAt; at < blocksAt + count * BLOCK_BYTES; at += BLOCK_BYTES)
    news.receptions.push({ ssrc: packet.readUInt32BE(at), fractionLost: packet[at + 4]! });
}
