/** Messages of the plain WebSocket transport: one binary message holds one frame (proto3 on the wire). */
export type Frame =
  | { kind: "text"; id: number; name: string; text: string }
  | {
      kind: "audio";
      id: number;
      name: string;
      /** PCM, signed 16 bit, little endian. A view into the message: copy it to keep it. */
      audio: Uint8Array;
      sampleRateHz: number;
      channels: number;
      pts?: number;
    }
  | {
      kind: "transcription";
      id: number;
      name: string;
      text: string;
      userId: string;
      timestamp: string;
    }
  | { kind: "message"; data: string }
  | { kind: "interruption"; id: number; name: string };

export function encodeFrame(frame: Frame): Uint8Array<ArrayBuffer> {
  const body = new ProtoWriter();
  switch (frame.kind) {
    case "text":
      body.number(1, frame.id).string(2, frame.name).string(3, frame.text);
      break;
    case "audio":
      body.number(1, frame.id).string(2, frame.name).bytes(3, frame.audio);
      body.number(4, frame.sampleRateHz).number(5, frame.channels);
      if (frame.pts !== undefined) body.number(6, frame.pts, { keepZero: true });
      break;
    case "transcription":
      body.number(1, frame.id).string(2, frame.name).string(3, frame.text);
      body.string(4, frame.userId).string(5, frame.timestamp);
      break;
    case "message":
      body.string(1, frame.data);
      break;
    case "interruption":
      body.number(1, frame.id).string(2, frame.name);
      break;
    default:
      frame satisfies never;
  }
  return body.wrapped(FIELD_OF_KIND[frame.kind]);
}

/** Throws `FrameError` on anything that is not a well-formed frame of a known kind. */
export function parseFrame(message: Uint8Array): Frame {
  let frame: Frame | undefined;
  for (const field of protoFields(message)) {
    if (field.bytes === undefined) continue;
    const read = READERS[field.number];
    if (read) frame = read(field.bytes); // the last member of a oneof wins
  }
  if (!frame) throw new FrameError("The message holds no frame of a known kind");
  return frame;
}

export class FrameError extends Error {
  override readonly name = "FrameError";
}

const FIELD_OF_KIND = { text: 1, audio: 2, transcription: 3, message: 4, interruption: 5 } as const;

const READERS: Record<number, (bytes: Uint8Array) => Frame> = {
  1: (bytes) => {
    const fields = collect(bytes);
    return { kind: "text", id: fields.number(1), name: fields.string(2), text: fields.string(3) };
  },
  2: (bytes) => {
    const fields = collect(bytes);
    return {
      kind: "audio",
      id: fields.number(1),
      name: fields.string(2),
      audio: fields.bytes(3),
      sampleRateHz: fields.number(4),
      channels: fields.number(5),
      ...(fields.has(6) ? { pts: fields.number(6) } : {}),
    };
  },
  3: (bytes) => {
    const fields = collect(bytes);
    return {
      kind: "transcription",
      id: fields.number(1),
      name: fields.string(2),
      text: fields.string(3),
      userId: fields.string(4),
      timestamp: fields.string(5),
    };
  },
  4: (bytes) => ({ kind: "message", data: collect(bytes).string(1) }),
  5: (bytes) => {
    const fields = collect(bytes);
    return { kind: "interruption", id: fields.number(1), name: fields.string(2) };
  },
};

const WIRE_VARINT = 0;
const WIRE_64_BIT = 1;
const WIRE_BYTES = 2;
const WIRE_32_BIT = 5;

const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); // a mark is kept, as text
const utf8Encoder = new TextEncoder();
const NO_BYTES = new Uint8Array(0);

interface ProtoField {
  number: number;
  value: number;
  bytes: Uint8Array | undefined;
}

function* protoFields(message: Uint8Array): Generator<ProtoField> {
  const cursor = { at: 0 };
  while (cursor.at < message.length) {
    const tag = readVarint(message, cursor);
    const number = Math.floor(tag / 8);
    if (number === 0) throw new FrameError("Field number 0 is not allowed");
    switch (tag % 8) {
      case WIRE_VARINT:
        yield { number, value: readVarint(message, cursor), bytes: undefined };
        break;
      case WIRE_BYTES: {
        const length = readVarint(message, cursor);
        yield { number, value: 0, bytes: take(message, cursor, length) };
        break;
      }
      case WIRE_64_BIT:
        take(message, cursor, 8);
        break;
      case WIRE_32_BIT:
        take(message, cursor, 4);
        break;
      default:
        throw new FrameError(`Wire type ${tag % 8} is not allowed`);
    }
  }
}

function take(message: Uint8Array, cursor: { at: number }, length: number): Uint8Array {
  const end = cursor.at + length;
  if (end > message.length) throw new FrameError("The message ends inside a field");
  const bytes = message.subarray(cursor.at, end);
  cursor.at = end;
  return bytes;
}

function readVarint(message: Uint8Array, cursor: { at: number }): number {
  let value = 0;
  let scale = 1;
  for (let count = 0; count < 10; count += 1) {
    const byte = message[cursor.at];
    if (byte === undefined) throw new FrameError("The message ends inside a number");
    cursor.at += 1;
    value += (byte & 0x7f) * scale; // loses precision above 2^53, where only ids can be
    if (byte < 0x80) return value;
    scale *= 128;
  }
  throw new FrameError("A number is longer than ten bytes");
}

function collect(bytes: Uint8Array) {
  const fields = new Map<number, ProtoField>();
  for (const field of protoFields(bytes)) fields.set(field.number, field);
  return {
    has: (number: number) => fields.has(number),
    number: (number: number) => fields.get(number)?.value ?? 0,
    bytes: (number: number) => fields.get(number)?.bytes ?? NO_BYTES,
    string: (number: number) => decodeUtf8(fields.get(number)?.bytes ?? NO_BYTES),
  };
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8Decoder.decode(bytes);
  } catch (cause) {
    throw new FrameError("A text field is not valid UTF-8", { cause });
  }
}

class ProtoWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  number(field: number, value: number, options: { keepZero?: boolean } = {}): this {
    if (value === 0 && !options.keepZero) return this;
    this.#push(varintBytes(field * 8 + WIRE_VARINT));
    this.#push(varintBytes(value));
    return this;
  }

  string(field: number, value: string): this {
    return value === "" ? this : this.bytes(field, utf8Encoder.encode(value));
  }

  bytes(field: number, value: Uint8Array): this {
    if (value.length === 0) return this;
    this.#push(varintBytes(field * 8 + WIRE_BYTES));
    this.#push(varintBytes(value.length));
    this.#push(value);
    return this;
  }

  wrapped(field: number): Uint8Array<ArrayBuffer> {
    const head = varintBytes(field * 8 + WIRE_BYTES);
    const size = varintBytes(this.#length);
    const message = new Uint8Array(head.length + size.length + this.#length);
    message.set(head, 0);
    message.set(size, head.length);
    let at = head.length + size.length;
    for (const part of this.#parts) {
      message.set(part, at);
      at += part.length;
    }
    return message;
  }

  #push(part: Uint8Array): void {
    this.#parts.push(part);
    this.#length += part.length;
  }
}

function varintBytes(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) | 0x80);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
