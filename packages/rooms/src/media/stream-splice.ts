import { sequenceOf, ssrcOf, timestampOf, writeSequence, writeTimestamp } from "./rtp-header.ts";

/** Makes one continuous stream of what a publisher sends, whatever stream it comes from and whatever is left out. */
export interface StreamSplice {
  /** Rewrites number and time of a packet that goes out. */
  rewrite(packet: Buffer, nowMs: number): void;
  /** A packet was left out on purpose; receivers must not take it for lost. */
  skip(): void;
  toOutgoing(timestamp: number): number;
}

export function createStreamSplice(clockRateHz: number): StreamSplice {
  let source: number | undefined;
  let sequenceOffset = 0;
  let timestampOffset = 0;
  let skipped = false;
  let last: { sequence: number; timestamp: number; sentMs: number } | undefined;

  function join(packet: Buffer, nowMs: number): void {
    const isNewSource = ssrcOf(packet) !== source;
    source = ssrcOf(packet);
    skipped = false;
    if (!last) return;
    sequenceOffset = (last.sequence + 1 - sequenceOf(packet)) & 0xffff;
    if (!isNewSource) return;
    const elapsed = Math.max(1, Math.round(((nowMs - last.sentMs) * clockRateHz) / 1000));
    timestampOffset = (last.timestamp + elapsed - timestampOf(packet)) >>> 0;
  }

  return {
    rewrite(packet, nowMs) {
      if (skipped || ssrcOf(packet) !== source) join(packet, nowMs);
      const sequence = (sequenceOf(packet) + sequenceOffset) & 0xffff;
      const timestamp = (timestampOf(packet) + timestampOffset) >>> 0;
      const isNewest = !last || ((sequence - last.sequence) & 0xffff) < 0x8000;
      if (isNewest) last = { sequence, timestamp, sentMs: nowMs };
      writeSequence(packet, sequence);
      writeTimestamp(packet, timestamp);
    },
    skip: () => void (skipped = true),
    toOutgoing: (timestamp) => (timestamp + timestampOffset) >>> 0,
  };
}
