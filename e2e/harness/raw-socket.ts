import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { until } from "../../testing/wait.ts";

/** A WebSocket client that keeps no rule of the protocol. */
export interface RawSocket extends Disposable {
  send(...frames: Buffer[]): void;
  /** The code of the other side's close frame; 0 when the connection ended without one. */
  closeCode(timeoutMs?: number): Promise<number>;
  readonly open: boolean;
}

export interface RawFrame {
  opcode: number;
  payload?: Uint8Array | string;
  /** @default true */
  fin?: boolean;
  /** Reserved bits, 0 to 7. @default 0 */
  reserved?: number;
  /** @default true */
  masked?: boolean;
  /** The length to claim, in 64 bits. @default the payload's, as short as it goes */
  claimedLength?: bigint;
}

export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export async function openRawSocket(port: number, path: string): Promise<RawSocket> {
  const socket = connect({ host: "127.0.0.1", port });
  let received = Buffer.alloc(0);
  let ended = false;
  socket.on("data", (chunk) => (received = Buffer.concat([received, chunk])));
  socket.on("error", () => (ended = true));
  socket.on("close", () => (ended = true));
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: localhost:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const head = await until(
    () => (received.includes("\r\n\r\n") ? received.toString("latin1") : ended && "closed"),
    15_000,
    "answer to the upgrade",
  );
  if (!head.startsWith("HTTP/1.1 101")) throw new Error(`The WebSocket was refused: ${head}`);
  received = received.subarray(received.indexOf("\r\n\r\n") + 4);
  return {
    send: (...frames) => void socket.write(Buffer.concat(frames)),
    closeCode: (timeoutMs = 15_000) =>
      until(() => closeCodeIn(received) ?? (ended && NO_CLOSE_FRAME), timeoutMs, "close frame").then(
        (code) => (code === NO_CLOSE_FRAME ? 0 : code),
      ),
    get open() {
      return !ended;
    },
    [Symbol.dispose]: () => socket.destroy(),
  };
}

export function rawFrame(frame: RawFrame): Buffer {
  const payload = Buffer.from(frame.payload ?? "");
  const first = (frame.fin === false ? 0 : 0x80) | ((frame.reserved ?? 0) << 4) | frame.opcode;
  const masked = frame.masked ?? true;
  const head = [Buffer.of(first), lengthBytes(frame.claimedLength ?? payload.length, masked)];
  if (!masked) return Buffer.concat([...head, payload]);
  return Buffer.concat([...head, Buffer.alloc(4), payload]); // a mask of zeros changes nothing
}

const NO_CLOSE_FRAME = -1;

function lengthBytes(length: number | bigint, masked: boolean): Buffer {
  const bit = masked ? 0x80 : 0;
  if (typeof length === "number" && length < 126) return Buffer.of(bit | length);
  if (typeof length === "number" && length < 65_536) return Buffer.of(bit | 126, length >> 8, length & 0xff);
  const bytes = Buffer.alloc(9);
  bytes[0] = bit | 127;
  bytes.writeBigUInt64BE(BigInt(length), 1);
  return bytes;
}

function closeCodeIn(received: Buffer): number | undefined {
  for (let at = 0; at + 2 <= received.length;) {
    const opcode = (received[at] ?? 0) & 0x0f;
    let length = (received[at + 1] ?? 0) & 0x7f;
    let start = at + 2;
    if (length === 126) {
      length = received.readUInt16BE(start);
      start += 2;
    } else if (length === 127) {
      length = Number(received.readBigUInt64BE(start));
      start += 8;
    }
    if (opcode === OPCODES.close && received.length >= start + 2) return received.readUInt16BE(start);
    at = start + length;
  }
  return undefined;
}
