import { createFrameSource } from "./frame-source.ts";
import type { OpusDecoder } from "../opus.ts";
import type { RtpPacket } from "./rtp.ts";

/**
 * Puts packets in order and fills the holes. There is no playout clock: a packet in order is
 * delivered at once, since a bot has no loudspeaker to keep fed. Never throws by itself, whatever
 * arrives.
 */
export function createRtpReceiver(options: RtpReceiverOptions): RtpReceiver {
  const { deliver, nowMs } = options;
  const waitMs = options.waitMs ?? 60;
  const maxHeldPackets = options.maxHeldPackets ?? 5;
  const stats = createStats();
  const frames = createFrameSource({ decoder: options.decoder, deliver, stats });
  const seen = createSeenNumbers();
  let ssrc: number | undefined;
  let expectedNumber = 0;
  // Sorted; all of them come after the first hole.
  const held: HeldPacket[] = [];

  function startStream(packet: RtpPacket): void {
    while (held.length > 0) giveUpFirstHole();
    ssrc = packet.ssrc;
    expectedNumber = packet.sequenceNumber;
    seen.clear();
    frames.restart();
  }

  function hold(packet: RtpPacket): void {
    const ahead = distance(packet.sequenceNumber, expectedNumber);
    const index = held.findIndex((other) => distance(other.packet.sequenceNumber, expectedNumber) > ahead);
    // The payload is a view on memory that may be reused after this call.
    const copy = { ...packet, payload: new Uint8Array(packet.payload) };
    held.splice(index === -1 ? held.length : index, 0, { packet: copy, arrivedMs: nowMs() });
  }

  function play(packet: RtpPacket): void {
    expectedNumber = (packet.sequenceNumber + 1) & 0xffff;
    frames.play(packet);
  }

  function playHeldInOrder(): void {
    while (held[0]?.packet.sequenceNumber === expectedNumber) play(held.shift()!.packet);
  }

  function giveUpFirstHole(): void {
    const next = held[0]?.packet;
    if (!next) return;
    const missing = distance(next.sequenceNumber, expectedNumber);
    expectedNumber = next.sequenceNumber;
    stats.lost += missing;
    frames.fill(missing, next);
    playHeldInOrder();
  }

  function nextDeadlineMs(): number | undefined {
    if (held.length === 0) return undefined;
    return Math.min(...held.map((one) => one.arrivedMs)) + waitMs;
  }

  function isWaitOver(): boolean {
    return held.length >= maxHeldPackets || nowMs() >= (nextDeadlineMs() ?? Infinity);
  }

  function poll(): void {
    while (held.length > 0 && isWaitOver()) giveUpFirstHole();
  }

  function receive(packet: RtpPacket): void {
    stats.received++;
    const isNewStream = packet.ssrc !== ssrc;
    if (isNewStream || Math.abs(distance(packet.sequenceNumber, expectedNumber)) > MAX_JUMP) {
      startStream(packet);
    }
    if (seen.has(packet.sequenceNumber)) {
      stats.duplicate++;
      return;
    }
    seen.add(packet.sequenceNumber);
    const ahead = distance(packet.sequenceNumber, expectedNumber);
    if (ahead < 0) stats.late++;
    else if (ahead > 0) hold(packet);
    else {
      play(packet);
      playHeldInOrder();
    }
    poll();
  }

  return { receive, poll, nextDeadlineMs, stats };
}

export interface RtpReceiverOptions {
  decoder: OpusDecoder;
  /** Called during `receive` and `poll`, in order; each array is the callee's own. */
  deliver: (samples: Int16Array) => void;
  nowMs: () => number;
  /** How long a packet is held because one before it is missing. @default 60 */
  waitMs?: number;
  /** So many packets after a hole end the wait early. @default 5 */
  maxHeldPackets?: number;
}

export interface RtpReceiver {
  receive(packet: RtpPacket): void;
  /** Gives up on what has been missing for too long. To be called at `nextDeadlineMs`, or often. */
  poll(): void;
  /** When `poll` has something to do, undefined while nothing is missing. */
  nextDeadlineMs(): number | undefined;
  readonly stats: Readonly<RtpReceiverStats>;
}

export interface RtpReceiverStats {
  received: number;
  /** Given up waiting for; `recovered` and part of `concealed` are among them. */
  lost: number;
  /** Lost, and restored from the copy in the packet after. */
  recovered: number;
  /** Lost or corrupt, and replaced by a guess. */
  concealed: number;
  /** Arrived after they had been given up. */
  late: number;
  duplicate: number;
  corrupt: number;
}

interface HeldPacket {
  packet: RtpPacket;
  arrivedMs: number;
}

// A sender that jumps further has restarted; at 20 ms a packet this is 10 s.
const MAX_JUMP = 500;
function createSeenNumbers(): { has(n: number): boolean; add(n: number): void; clear(): void } {
  const slots = new Int32Array(1024).fill(-1); // a power of two above MAX_JUMP
  return {
    has: (sequenceNumber) => slots[sequenceNumber & 1023] === sequenceNumber,
    add: (sequenceNumber) => void (slots[sequenceNumber & 1023] = sequenceNumber),
    clear: () => void slots.fill(-1),
  };
}

/** How far the first 16-bit number is ahead of the second, over the wrap. */
function distance(sequenceNumber: number, from: number): number {
  return ((sequenceNumber - from) << 16) >> 16;
}

function createStats(): RtpReceiverStats {
  return { received: 0, lost: 0, recovered: 0, concealed: 0, late: 0, duplicate: 0, corrupt: 0 };
}
