import { randomBytes } from "node:crypto";

export interface ClientFrameOptions {
  /** @default 1, text */
  opcode?: number;
  /** @default true */
  isLast?: boolean;
  /** @default true */
  isMasked?: boolean;
  /** Value of the first byte. */
  reservedBits?: number;
  /** Written instead of the true length. */
  claimedBytes?: number;
}

/** Returns a frame as a client sends it. */
export function clientFrame(payload: string | Buffer, options: ClientFrameOptions = {}): Buffer {
  const { opcode = 1, isLast = true, isMasked = true, reservedBits = 0 } = options;
  const bytes = Buffer.from(payload);
  const length = options.claimedBytes ?? bytes.length;
  const head = [(isLast ? 0x80 : 0) | reservedBits | opcode];
  const maskBit = isMasked ? 0x80 : 0;
  if (length < 126) head.push(maskBit | length);
  else if (length < 65_536) head.push(maskBit | 126, length >> 8, length & 255);
  else {
    const long = Buffer.alloc(8);
    long.writeBigUInt64BE(BigInt(length));
    head.push(maskBit | 127, ...long);
  }
  if (!isMasked) return Buffer.concat([Buffer.from(head), bytes]);
  const mask = randomBytes(4);
  const masked = bytes.map((byte, index) => byte ^ (mask[index & 3] ?? 0));
  return Buffer.concat([Buffer.from(head), mask, masked]);
}

/** The messages with which Twilio opens a stream. */
export function twilioOpening(parameters: Record<string, string>): string[] {
  return [
    JSON.stringify({ event: "connected", protocol: "Call", version: "1.0.0" }),
    JSON.stringify({
      event: "start",
      sequenceNumber: "1",
      streamSid: "MZ1",
      start: {
        streamSid: "MZ1",
        accountSid: "AC1",
        callSid: "CA1",
        tracks: ["inbound"],
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8_000, channels: 1 },
        customParameters: parameters,
      },
    }),
  ];
}
