/** Shorter values would black out ordinary words. */
export const REDACTED_FROM_LENGTH = 8;

export type Redactor = (text: string) => string;

/** Replaces known secret values, also as they look inside JSON and URLs, and each line of those with several. */
export function createRedactor(values: Iterable<string>): Redactor {
  const needles = new Set<string>();
  for (const value of values) {
    for (const part of [value, ...value.split(/\r?\n/)]) {
      for (const form of [part, JSON.stringify(part).slice(1, -1), encodeForUrl(part)]) {
        if (form.length >= REDACTED_FROM_LENGTH && part.length >= REDACTED_FROM_LENGTH) needles.add(form);
      }
    }
  }
  if (needles.size === 0) return (text) => text;
  // Longest first: a value that begins another one must not leave the other's rest behind.
  const longestFirst = [...needles].sort((left, right) => right.length - left.length);
  const pattern = new RegExp(longestFirst.map(escapePattern).join("|"), "g");
  return (text) => text.replace(pattern, "[redacted]");
}

function encodeForUrl(text: string): string {
  // Throws on lone surrogates.
  return encodeURIComponent(text.toWellFormed());
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
