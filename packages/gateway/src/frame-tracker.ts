/**
 * Follows WebSocket frames by their headers, so that a close frame can be inserted between two of them. Payloads are
 * skipped; an invalid header only moves the boundaries.
 */
export interface FrameTracker {
  push(chunk: Uint8Array): void;
  /** The last byte seen ended a frame. */
  readonly atBoundary: boolean;
  /** Bytes until the current frame ends; meaningless while its header is incomplete. */
  readonly missingBytes: number;
  /** A close frame has begun, after which nothing may be sent. */
  readonly closing: boolean;
}

export function createFrameTracker(): FrameTracker {
  let payloadLeft = 0;
  let closing = false;
  const header = new Uint8Array(HEADER_MAX_BYTES);
  let headerLength = 0;

  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.length) {
        if (payloadLeft > 0) {
          const step = Math.min(payloadLeft, chunk.length - at);
          payloadLeft -= step;
          at += step;
          continue;
        }
        header[headerLength++] = chunk[at++] ?? 0;
        if (headerLength < 2 || headerLength < headerBytes(header)) continue;
        if (((header[0] ?? 0) & 0x0f) === OPCODE_CLOSE) closing = true;
        payloadLeft = payloadBytes(header);
        headerLength = 0;
      }
    },
    get atBoundary() {
      return payloadLeft === 0 && headerLength === 0;
    },
    get missingBytes() {
      return payloadLeft;
    },
    get closing() {
      return closing;
    },
  };
}

/** Returns the length of a header, its mask included, from its first two bytes. */
export function headerBytes(header: Uint8Array): number {
  const second = header[1] ?? 0;
  const short = second & 0x7f;
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + (second & 0x80 ? 4 : 0);
}

export function payloadBytes(header: Uint8Array): number {
  const short = (header[1] ?? 0) & 0x7f;
  if (short < 126) return short;
  let length = 0;
  for (let index = 2; index < (short === 126 ? 4 : 10); index++) length = length * 256 + (header[index] ?? 0);
  return length;
}

/** Returns a server's close frame. */
export function closeFrame(code: number, reason = ""): Buffer {
  const text = Buffer.from(reason.slice(0, 123), "latin1");
  const frame = Buffer.allocUnsafe(4 + text.length);
  frame[0] = 0x80 | OPCODE_CLOSE;
  frame[1] = 2 + text.length;
  frame.writeUInt16BE(code, 2);
  text.copy(frame, 4);
  return frame;
}

const HEADER_MAX_BYTES = 14;
export const OPCODE_CLOSE = 8;
