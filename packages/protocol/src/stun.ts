// The one question of STUN (RFC 8489) we ask and answer ourselves: from where do you see me?

/** An address as a socket gives it. */
export interface StunAddress {
  address: string;
  port: number;
}

const BINDING_REQUEST = 0x0001;
const BINDING_ANSWER = 0x0101;
const COOKIE = 0x2112a442;
const XOR_MAPPED_ADDRESS = 0x0020;
const HEADER_BYTES = 20;
const TRANSACTION_BYTES = 12;

export function stunRequest(transaction: Uint8Array): Uint8Array {
  return message(BINDING_REQUEST, transaction, new Uint8Array(0));
}

/** The answer to a plain request; undefined for everything else, also for checks of calls. */
export function stunAnswer(request: Uint8Array, from: StunAddress): Uint8Array | undefined {
  if (request.length !== HEADER_BYTES) return undefined;
  const view = viewOf(request);
  if (view.getUint16(0) !== BINDING_REQUEST || view.getUint32(4) !== COOKIE) return undefined;
  const transaction = request.slice(8, HEADER_BYTES);
  return message(BINDING_ANSWER, transaction, mappedAddress(from, transaction));
}

/** How the other side sees us; undefined unless it answers this request. */
export function readStunAnswer(answer: Uint8Array, transaction: Uint8Array): StunAddress | undefined {
  if (answer.length < HEADER_BYTES) return undefined;
  const view = viewOf(answer);
  if (view.getUint16(0) !== BINDING_ANSWER) return undefined;
  if (answer.subarray(8, HEADER_BYTES).some((byte, at) => byte !== transaction[at])) return undefined;
  for (let at = HEADER_BYTES; at + 4 <= answer.length;) {
    const length = view.getUint16(at + 2);
    const value = answer.subarray(at + 4, at + 4 + length);
    if (view.getUint16(at) === XOR_MAPPED_ADDRESS) return readMappedAddress(value, transaction);
    at += 4 + length + ((4 - (length % 4)) % 4);
  }
  return undefined;
}

function message(type: number, transaction: Uint8Array, attributes: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + attributes.length);
  const view = viewOf(bytes);
  view.setUint16(0, type);
  view.setUint16(2, attributes.length);
  view.setUint32(4, COOKIE);
  bytes.set(transaction.subarray(0, TRANSACTION_BYTES), 8);
  bytes.set(attributes, HEADER_BYTES);
  return bytes;
}

function mappedAddress({ address, port }: StunAddress, transaction: Uint8Array): Uint8Array {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  const value = plain.includes(":") ? ipv6Bytes(plain) : Uint8Array.from(plain.split("."), Number);
  const bytes = new Uint8Array(8 + value.length);
  const view = viewOf(bytes);
  view.setUint16(0, XOR_MAPPED_ADDRESS);
  view.setUint16(2, 4 + value.length);
  bytes[5] = value.length === 4 ? 1 : 2;
  view.setUint16(6, port ^ (COOKIE >>> 16));
  bytes.set(masked(value, transaction), 8);
  return bytes;
}

function readMappedAddress(value: Uint8Array, transaction: Uint8Array): StunAddress | undefined {
  const length = value[1] === 1 ? 4 : 16;
  if (value.length < 4 + length) return undefined;
  const port = viewOf(value).getUint16(2) ^ (COOKIE >>> 16);
  const bytes = masked(value.subarray(4, 4 + length), transaction);
  return { address: length === 4 ? bytes.join(".") : ipv6Text(bytes), port };
}

function masked(value: Uint8Array, transaction: Uint8Array): Uint8Array {
  const mask = new Uint8Array(16);
  viewOf(mask).setUint32(0, COOKIE);
  mask.set(transaction.subarray(0, TRANSACTION_BYTES), 4);
  return value.map((byte, at) => byte ^ (mask[at] ?? 0));
}

function ipv6Bytes(text: string): Uint8Array {
  const [head = "", tail] = text.replace(/%.*$/, "").split("::");
  const groupsOf = (part: string | undefined): string[] => (part ? part.split(":") : []);
  const [first, last] = [groupsOf(head), groupsOf(tail)];
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => "0");
  const groups = [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16));
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 255]));
}

function ipv6Text(bytes: Uint8Array): string {
  const view = viewOf(bytes);
  return Array.from({ length: 8 }, (_, at) => view.getUint16(at * 2).toString(16)).join(":");
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
