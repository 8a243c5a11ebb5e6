/** The sound a client has heard of a bot, counted packet by packet. */
export interface Hearing {
  readonly packets: number;
  /** Packets with sound in them. */
  readonly voiced: number;
  /** Numbers missing between the first and the newest packet. */
  readonly missing: number;
  /** Longest time between two packets. */
  readonly longestGapMs: number;
  /** Forgets everything, so that a stretch can be counted on its own. */
  restart(): void;
}

export interface HearingInput extends Hearing {
  packet(bytes: Uint8Array): void;
}

const SILENT_PAYLOAD_MAX_BYTES = 12; // Opus' silence is 3 bytes, a fading voice a few more

export function createHearing(): HearingInput {
  let packets = 0;
  let voiced = 0;
  let first: number | undefined;
  let newest = 0;
  let lastMs: number | undefined;
  let longestGapMs = 0;

  return {
    get packets() {
      return packets;
    },
    get voiced() {
      return voiced;
    },
    get missing() {
      return first === undefined ? 0 : newest - first + 1 - packets;
    },
    get longestGapMs() {
      return longestGapMs;
    },
    restart() {
      packets = 0;
      voiced = 0;
      first = undefined;
      lastMs = undefined;
      longestGapMs = 0;
    },
    packet(bytes) {
      if (bytes.length < 12 || isRtcp(bytes[1] ?? 0)) return;
      const nowMs = performance.now();
      const number = ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0);
      newest = first === undefined ? number : newest + ((((number - newest) & 0xffff) << 16) >> 16);
      first ??= number;
      packets += 1;
      if (bytes.length - 12 > SILENT_PAYLOAD_MAX_BYTES) voiced += 1;
      if (lastMs !== undefined) longestGapMs = Math.max(longestGapMs, nowMs - lastMs);
      lastMs = nowMs;
    },
  };
}

function isRtcp(kind: number): boolean {
  return kind >= 192 && kind <= 223;
}
