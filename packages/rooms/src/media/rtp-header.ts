// Reads and rewrites the few header fields forwarding needs, in place: a packet is never copied for a receiver.

const FIXED_HEADER_BYTES = 12;

/** RTP, and long enough to be rewritten. RTCP shares the port: packet types 192 to 223. */
export function isRtp(packet: Buffer): boolean {
  return packet.length >= FIXED_HEADER_BYTES && (packet[0] ?? 0) >> 6 === 2 && !isRtcp(packet);
}

export function isRtcp(packet: Buffer): boolean {
  const type = packet[1] ?? 0;
  return packet.length >= 8 && (packet[0] ?? 0) >> 6 === 2 && type >= 192 && type <= 223;
}

export const payloadTypeOf = (packet: Buffer): number => (packet[1] ?? 0) & 0x7f;
export const sequenceOf = (packet: Buffer): number => packet.readUInt16BE(2);
export const timestampOf = (packet: Buffer): number => packet.readUInt32BE(4);
export const ssrcOf = (packet: Buffer): number => packet.readUInt32BE(8);

export function writePayloadType(packet: Buffer, payloadType: number): void {
  packet[1] = ((packet[1] ?? 0) & 0x80) | payloadType;
}

export function writeSequence(packet: Buffer, sequence: number): void {
  packet.writeUInt16BE(sequence & 0xffff, 2);
}

export function writeTimestamp(packet: Buffer, timestamp: number): void {
  packet.writeUInt32BE(timestamp >>> 0, 4);
}

export function writeSsrc(packet: Buffer, ssrc: number): void {
  packet.writeUInt32BE(ssrc, 8);
}

/** First byte of a header extension's value; undefined when the packet has none of that number. */
export function readExtension(packet: Buffer, id: number): number | undefined {
  return findExtension(packet, id)?.[0];
}

export function readExtensionText(packet: Buffer, id: number): string | undefined {
  return findExtension(packet, id)?.toString("latin1");
}

function findExtension(packet: Buffer, id: number): Buffer | undefined {
  const flags = packet[0] ?? 0;
  if ((flags & 0x10) === 0) return undefined;
  const start = FIXED_HEADER_BYTES + 4 * (flags & 0x0f);
  if (packet.length < start + 4) return undefined;
  const end = Math.min(packet.length, start + 4 + 4 * packet.readUInt16BE(start + 2));
  const profile = packet.readUInt16BE(start);
  if (profile === 0xbede) return readOneByteForm(packet, { id, at: start + 4, end });
  if (profile >> 4 === 0x100) return readTwoByteForm(packet, { id, at: start + 4, end });
  return undefined;
}

interface Place {
  id: number;
  at: number;
  end: number;
}

function readOneByteForm(packet: Buffer, { id, at, end }: Place): Buffer | undefined {
  for (let place = at; place < end;) {
    const head = packet[place] ?? 0;
    if (head === 0) {
      place += 1; // padding
      continue;
    }
    const next = place + 2 + (head & 0x0f);
    if (head >> 4 === id) return next <= end ? packet.subarray(place + 1, next) : undefined;
    place = next;
  }
  return undefined;
}

function readTwoByteForm(packet: Buffer, { id, at, end }: Place): Buffer | undefined {
  for (let place = at; place < end;) {
    const head = packet[place] ?? 0;
    if (head === 0) {
      place += 1;
      continue;
    }
    const length = packet[place + 1] ?? 0;
    const next = place + 2 + length;
    if (head === id) return length > 0 && next <= end ? packet.subarray(place + 2, next) : undefined;
    place = next;
  }
  return undefined;
}
