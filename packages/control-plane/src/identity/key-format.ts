import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { ApiKeyRow } from "@vocalhost/store/schema";

export type KeyKind = ApiKeyRow["kind"];

const prefixes = { private: "sk_", public: "pk_" } as const satisfies Record<KeyKind, string>;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const KEY = /^(sk|pk)_[0-9A-Za-z]{36}$/;

/** Returns a new key: a prefix, 30 random characters and a checksum that detects typing errors without a query. */
export function createKey(kind: KeyKind): string {
  const body = prefixes[kind] + randomCharacters(RANDOM_LENGTH);
  return body + checksumOf(body);
}

/** Returns undefined for a mistyped key and for any other text. */
export function parseKey(text: string): { kind: KeyKind; sha256: string; lastFour: string } | undefined {
  if (!KEY.test(text)) return undefined;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  if (checksumOf(body) !== text.slice(-CHECKSUM_LENGTH)) return undefined;
  return {
    kind: text.startsWith(prefixes.private) ? "private" : "public",
    sha256: createHash("sha256").update(text).digest("hex"),
    lastFour: text.slice(-4),
  };
}

/** Returns whether a bearer token has the form of a key; such a token must be one. */
export function looksLikeKey(text: string): boolean {
  return text.startsWith(prefixes.private) || text.startsWith(prefixes.public);
}

/** Returns a key as lists show it. */
export function maskKey({ kind, lastFour }: { kind: KeyKind; lastFour: string }): string {
  return `${prefixes[kind]}…${lastFour}`;
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

function randomCharacters(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte. Bytes from 248 would make the first characters more likely.
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}
