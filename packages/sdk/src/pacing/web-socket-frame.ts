const WHOLE_TEXT = 0x81;
const WHOLE_BINARY = 0x82;
const SHORT_MAX = 125;
const MEDIUM_MAX = 0xffff;

/** Encodes a server's message: in one frame, neither masked nor compressed (RFC 6455, 5.2). */
export function webSocketFrame(message: Uint8Array | string): Buffer {
  const isText = typeof message === "string";
  const length = isText ? Buffer.byteLength(message) : message.length;
  const headBytes = length <= SHORT_MAX ? 2 : length <= MEDIUM_MAX ? 4 : 10;
  const frame = Buffer.allocUnsafe(headBytes + length);
  frame[0] = isText ? WHOLE_TEXT : WHOLE_BINARY;
  if (headBytes === 2) frame[1] = length;
  else if (headBytes === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  if (isText) frame.write(message, headBytes);
  else frame.set(message, headBytes);
  return frame;
}
