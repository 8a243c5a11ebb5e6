import { randomBytes } from "node:crypto";

const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
const CHARACTERS = 12;

/** `RM_…`, `PA_…`, `TR_…`: clients tell things apart by these prefixes. */
export function newSid(prefix: "RM" | "PA" | "TR"): string {
  const letters = Array.from(randomBytes(CHARACTERS), (byte) => ALPHABET[byte % ALPHABET.length]);
  return `${prefix}_${letters.join("")}`;
}
