import { serviceHostIn } from "@vocalhost/protocol";
import { headerBytes, payloadBytes, OPCODE_CLOSE } from "./frame-tracker.ts";

/** The result of a carrier's opening messages so far. */
export type Opening =
  | { kind: "more" }
  | { kind: "start"; serviceHost: string | undefined; token: string | undefined }
  | { kind: "refused"; code: number; reason: string };

export interface OpeningFrames {
  /** Reads on. After a result other than `more` it must not be called again. */
  push(chunk: Buffer): Opening;
}

/** Reads a carrier's first frames until its start message names the agent. */
export function createOpeningFrames({ maxBytes }: { maxBytes: number }): OpeningFrames {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let neededBytes = HEADER_MIN_BYTES; // parsing waits for this many bytes
  let seenBytes = 0;
  let message: Buffer[] | undefined;

  function readFrame({ opcode, isLast, payload }: Frame): Opening {
    if (opcode === OPCODE_CLOSE) return refused(1000, "The caller has gone");
    if (opcode > OPCODE_CLOSE) return MORE; // a ping; the instance will answer it
    if (opcode === OPCODE_BINARY) return refused(1003, "A carrier speaks text");
    if ((opcode === OPCODE_CONTINUATION) !== (message !== undefined))
      return refused(1002, "Fragments out of order");
    message ??= [];
    message.push(payload);
    if (!isLast) return MORE;
    const text = Buffer.concat(message);
    message = undefined;
    return readMessage(text);
  }

  return {
    push(chunk) {
      seenBytes += chunk.length;
      pending.push(chunk);
      pendingBytes += chunk.length;
      while (pendingBytes >= neededBytes) {
        const bytes = pending.length === 1 ? (pending[0] ?? chunk) : Buffer.concat(pending);
        const taken = takeFrame(bytes, maxBytes);
        if (taken.kind === "refused") return taken;
        const rest = taken.kind === "frame" ? bytes.subarray(taken.bytes) : bytes;
        pending = [rest];
        pendingBytes = rest.length;
        neededBytes = taken.kind === "frame" ? HEADER_MIN_BYTES : taken.bytes;
        const opening = taken.kind === "frame" ? readFrame(taken) : MORE;
        if (opening.kind !== "more") return opening;
      }
      return seenBytes >= maxBytes ? refused(1009, "The opening messages are too long") : MORE;
    },
  };
}

interface Frame {
  kind: "frame";
  opcode: number;
  isLast: boolean;
  payload: Buffer;
  /** Length of header and payload. */
  bytes: number;
}

const MORE: Opening = { kind: "more" };
const OPCODE_CONTINUATION = 0;
const OPCODE_BINARY = 2;
const HEADER_MIN_BYTES = 2;
const MASK_BYTES = 4;
const CONTROL_MAX_BYTES = 125;

type Refused = Opening & { kind: "refused" };

function takeFrame(bytes: Buffer, maxBytes: number): Frame | Refused | { kind: "needs"; bytes: number } {
  const [first = 0, second = 0] = bytes;
  const opcode = first & 0x0f;
  const isLast = (first & 0x80) !== 0;
  if ((first & 0x70) !== 0) return refused(1002, "Reserved bits are set");
  if ((opcode > OPCODE_BINARY && opcode < OPCODE_CLOSE) || opcode > 10)
    return refused(1002, "Unknown opcode");
  if ((second & 0x80) === 0) return refused(1002, "Frames of a client are masked");
  if (opcode >= OPCODE_CLOSE && (!isLast || (second & 0x7f) > CONTROL_MAX_BYTES))
    return refused(1002, "A control frame is short and whole");
  const headerLength = headerBytes(bytes);
  if (bytes.length < headerLength) return { kind: "needs", bytes: headerLength };
  const length = payloadBytes(bytes);
  if (length > maxBytes) return refused(1009, "The opening messages are too long");
  if (bytes.length < headerLength + length) return { kind: "needs", bytes: headerLength + length };
  const mask = bytes.subarray(headerLength - MASK_BYTES, headerLength);
  const payload = Buffer.from(bytes.subarray(headerLength, headerLength + length));
  for (let index = 0; index < length; index++) payload[index]! ^= mask[index & 3]!;
  return { kind: "frame", opcode, isLast, payload, bytes: headerLength + length };
}

function readMessage(text: Buffer): Opening {
  let message: unknown;
  try {
    message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    return refused(1007, "The opening messages are JSON");
  }
  const { event, start } = asRecord(message);
  if (event !== "start") return MORE;
  const parameters = asRecord(asRecord(start)["customParameters"]);
  return {
    kind: "start",
    serviceHost: serviceHostIn(parameters),
    token: asText(parameters["_token"]),
  };
}

function refused(code: number, reason: string): Refused {
  return { kind: "refused", code, reason };
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
