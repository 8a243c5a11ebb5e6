import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { setTimeout as sleep } from "node:timers/promises";

const BINDING_REQUEST = 0x0001;
const BINDING_ANSWER = 0x0101;
const COOKIE = 0x2112a442;
const XOR_MAPPED_ADDRESS = 0x0020;
const RESEND_MS = 500;
const ATTEMPTS = 5;

/** Asks a STUN server how it sees us; undefined when nothing comes back. */
export async function askStun(
  server: { host: string; port: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const socket = createSocket("udp4");
  const transaction = randomBytes(12);
  const { promise: answer, resolve, reject } = Promise.withResolvers<string>();
  socket.on("error", reject);
  socket.on("message", (message) => {
    const address = readAnswer(message, transaction);
    if (address !== undefined) resolve(address);
  });
  answer.catch(() => undefined);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      socket.send(bindingRequest(transaction), server.port, server.host, (error) => error && reject(error));
      const address = await Promise.race([answer, sleep(RESEND_MS, undefined, { signal })]);
      if (address !== undefined) return address;
    }
    return undefined;
  } finally {
    socket.close();
  }
}

export function bindingRequest(transaction: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(BINDING_REQUEST, 0);
  header.writeUInt32BE(COOKIE, 4);
  return Buffer.concat([header, transaction]);
}

/** `203.0.113.7:5000`; undefined unless it answers this request. */
export function readAnswer(message: Buffer, transaction: Uint8Array): string | undefined {
  const isAnswer =
    message.length >= 20 &&
    message.readUInt16BE(0) === BINDING_ANSWER &&
    message.subarray(8, 20).equals(transaction);
  if (!isAnswer) return undefined;
  for (let at = 20; at + 4 <= message.length;) {
    const type = message.readUInt16BE(at);
    const length = message.readUInt16BE(at + 2);
    const value = message.subarray(at + 4, at + 4 + length);
    if (type === XOR_MAPPED_ADDRESS && value.length >= 8 && value[1] === 1) {
      const port = value.readUInt16BE(2) ^ (COOKIE >>> 16);
      const address = (value.readUInt32BE(4) ^ COOKIE) >>> 0;
      return `${[24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".")}:${port}`;
    }
    at += 4 + length + ((4 - (length % 4)) % 4);
  }
  return "an address of its own kind";
}
