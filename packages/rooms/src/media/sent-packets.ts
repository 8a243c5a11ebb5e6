import { sequenceOf } from "./rtp-header.ts";

/** What was sent last, for a receiver that has lost some of it. */
export interface SentPackets {
  keep(packet: Buffer): void;
  /** Undefined when it is no longer there, or was asked for too often. */
  again(sequence: number): Buffer | undefined;
}

const KEPT_PACKETS = 512; // the lower 9 bits of the number are the place
const AGAIN_MAX = 5; // a receiver that asks for everything for ever costs so many times its stream

export function createSentPackets(): SentPackets {
  const kept: { packet: Buffer; left: number }[] = [];
  return {
    // A copy: packets are rewritten for the next receiver.
    keep: (packet) =>
      void (kept[sequenceOf(packet) % KEPT_PACKETS] = { packet: Buffer.from(packet), left: AGAIN_MAX }),
    again(sequence) {
      const found = kept[sequence % KEPT_PACKETS];
      if (!found || found.left === 0 || sequenceOf(found.packet) !== sequence) return undefined;
      found.left -= 1;
      return found.packet;
    },
  };
}
