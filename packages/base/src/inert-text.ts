const LINE_MAX_BYTES = 16 * 1024;
// Matches controls, line separators and marks that reorder text.
const UNSAFE = /(?!\t)\p{Cc}|[\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const DELETE = 0x7f;
const CONTROL_PICTURES = 0x2400; // ␀ to ␟, and ␡ at 0x21

/** Returns a bot's output without characters that move a cursor, colour a screen or reorder a line. Tabs stay. */
export function toInertText(text: string): string {
  return text
    .replace(/\r$/, "")
    .replace(UNSAFE, (character) => {
      const code = character.charCodeAt(0);
      if (code < 0x20) return String.fromCharCode(CONTROL_PICTURES + code);
      if (code === DELETE) return String.fromCharCode(CONTROL_PICTURES + 0x21);
      return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
    })
    .toWellFormed();
}

/** Does the same for several lines. Databases refuse text with a NUL in it. */
export function toInertLines(text: string): string {
  return text.split("\n").map(toInertText).join("\n");
}

/** Cuts a line to 16 KiB and appends how much is missing. */
export function cutLine(text: string, alreadyMissing = 0): string {
  if (alreadyMissing === 0 && text.length * 3 <= LINE_MAX_BYTES) return text;
  const bytes = Buffer.from(text);
  if (alreadyMissing === 0 && bytes.length <= LINE_MAX_BYTES) return text;
  let end = Math.min(bytes.length, LINE_MAX_BYTES);
  while (end < bytes.length && isContinuation(bytes[end]!)) end -= 1;
  return `${bytes.toString("utf8", 0, end)} … (cut, ${bytes.length - end + alreadyMissing} more)`;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
