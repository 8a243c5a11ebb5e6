import { createFrameSource } from "./frame-source.ts";
import type { OpusDecoder } from "../opus.ts";
import type { RtpPacket } from "./rtp.ts";

/**
 * Puts packets in order and conceals missing ones. It has no playout clock: packets in order are delivered at
 * once, since a bot has no loudspeaker to keep fed. Never throws by itself, whatever arrives.
 */
export function createRtpReceiver(options: RtpReceiverOptions): RtpReceiver {
  return new OrderedReceiver(options);
}

class OrderedReceiver implements RtpReceiver {
  readonly #options: RtpReceiverOptions;
  readonly #waitMs: number;
  readonly #maxHeldPackets: number;
  readonly stats = createStats();
  readonly #frames;
  readonly #seen = createSeenNumbers();
  #ssrc: number | undefined;
  #expectedNumber = 0;
  // Sorted; all of them come after the first missing packet.
  readonly #held: HeldPacket[] = [];

  constructor(options: RtpReceiverOptions) {
    this.#options = options;
    this.#waitMs = options.waitMs ?? 60;
    this.#maxHeldPackets = options.maxHeldPackets ?? 5;
    this.#frames = createFrameSource({
      decoder: options.decoder,
      deliver: options.deliver,
      stats: this.stats,
    });
  }

  receive(packet: RtpPacket): void {
    this.stats.received++;
    const isNewStream = packet.ssrc !== this.#ssrc;
    if (isNewStream || Math.abs(distance(packet.sequenceNumber, this.#expectedNumber)) > MAX_JUMP) {
      this.#startStream(packet);
    }
    if (this.#seen.has(packet.sequenceNumber)) {
      this.stats.duplicate++;
      return;
    }
    this.#seen.add(packet.sequenceNumber);
    const ahead = distance(packet.sequenceNumber, this.#expectedNumber);
    if (ahead < 0) this.stats.late++;
    else if (ahead > 0) this.#hold(packet);
    else {
      this.#play(packet);
      this.#playHeldInOrder();
    }
    this.poll();
  }

  poll(): void {
    while (this.#held.length > 0 && this.#isWaitOver()) this.#giveUpFirstHole();
  }

  nextDeadlineMs(): number | undefined {
    if (this.#held.length === 0) return undefined;
    return Math.min(...this.#held.map((one) => one.arrivedMs)) + this.#waitMs;
  }

  #startStream(packet: RtpPacket): void {
    while (this.#held.length > 0) this.#giveUpFirstHole();
    this.#ssrc = packet.ssrc;
    this.#expectedNumber = packet.sequenceNumber;
    this.#seen.clear();
    this.#frames.restart();
  }

  #hold(packet: RtpPacket): void {
    const ahead = distance(packet.sequenceNumber, this.#expectedNumber);
    const index = this.#held.findIndex(
      (other) => distance(other.packet.sequenceNumber, this.#expectedNumber) > ahead,
    );
    // The payload is a view on memory that may be reused after this call.
    const copy = { ...packet, payload: new Uint8Array(packet.payload) };
    this.#held.splice(index === -1 ? this.#held.length : index, 0, {
      packet: copy,
      arrivedMs: this.#options.nowMs(),
    });
  }

  #play(packet: RtpPacket): void {
    this.#expectedNumber = (packet.sequenceNumber + 1) & 0xffff;
    this.#frames.play(packet);
  }

  #playHeldInOrder(): void {
    while (this.#held[0]?.packet.sequenceNumber === this.#expectedNumber)
      this.#play(this.#held.shift()!.packet);
  }

  #giveUpFirstHole(): void {
    const next = this.#held[0]?.packet;
    if (!next) return;
    const missing = distance(next.sequenceNumber, this.#expectedNumber);
    this.#expectedNumber = next.sequenceNumber;
    this.stats.lost += missing;
    this.#frames.fill(missing, next);
    this.#playHeldInOrder();
  }

  #isWaitOver(): boolean {
    return (
      this.#held.length >= this.#maxHeldPackets ||
      this.#options.nowMs() >= (this.nextDeadlineMs() ?? Infinity)
    );
  }
}

export interface RtpReceiverOptions {
  decoder: OpusDecoder;
  /** Called during `receive` and `poll`, in order; each array belongs to the callee. */
  deliver: (samples: Int16Array) => void;
  nowMs: () => number;
  /** How long a packet is held when one before it is missing, in milliseconds. @default 60 */
  waitMs?: number;
  /** Number of packets after a missing one that end the wait early. @default 5 */
  maxHeldPackets?: number;
}

export interface RtpReceiver {
  receive(packet: RtpPacket): void;
  /** Gives up on packets that are overdue. Call it at `nextDeadlineMs`, or often. */
  poll(): void;
  /** Returns when `poll` has something to do; undefined while nothing is missing. */
  nextDeadlineMs(): number | undefined;
  readonly stats: Readonly<RtpReceiverStats>;
}

export interface RtpReceiverStats {
  received: number;
  /** Packets given up; includes `recovered` and part of `concealed`. */
  lost: number;
  /** Lost packets restored from the copy in the next one. */
  recovered: number;
  /** Lost or corrupt packets replaced by concealment. */
  concealed: number;
  /** Packets that arrived after they had been given up. */
  late: number;
  duplicate: number;
  corrupt: number;
}

interface HeldPacket {
  packet: RtpPacket;
  arrivedMs: number;
}

// A larger jump means that the sender restarted; at 20 ms a packet this is 10 s.
const MAX_JUMP = 500;
function createSeenNumbers(): { has(n: number): boolean; add(n: number): void; clear(): void } {
  const slots = new Int32Array(1024).fill(-1); // a power of two above MAX_JUMP
  return {
    has: (sequenceNumber) => slots[sequenceNumber & 1023] === sequenceNumber,
    add: (sequenceNumber) => void (slots[sequenceNumber & 1023] = sequenceNumber),
    clear: () => void slots.fill(-1),
  };
}

/** Returns how far the first 16-bit number is ahead of the second, with wrap-around. */
function distance(sequenceNumber: number, from: number): number {
  return ((sequenceNumber - from) << 16) >> 16;
}

function createStats(): RtpReceiverStats {
  return { received: 0, lost: 0, recovered: 0, concealed: 0, late: 0, duplicate: 0, corrupt: 0 };
}
