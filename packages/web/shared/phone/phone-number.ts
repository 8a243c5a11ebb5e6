/** What the user typed as a number: one that can be dialled, or a mistake worth explaining. */
export type PhoneNumber = { kind: "number"; text: string } | { kind: "mistake"; message: string };

const DIGITS_MAX = 20; // the longest numbers of the world have 15, short codes and prefixes add some

/** Takes a number as people write it, with spaces, dots, dashes and brackets. */
export function parsePhoneNumber(typed: string): PhoneNumber {
  const text = typed.replaceAll(/[\s().\-/]/g, "");
  if (!text) return { kind: "mistake", message: "Enter a number; any will do." };
  if (!/^\+?[0-9*#]+$/.test(text)) {
    return { kind: "mistake", message: "A number has digits, * and #, and may begin with +." };
  }
  if (text.length > DIGITS_MAX) {
    return { kind: "mistake", message: `A number has at most ${DIGITS_MAX} digits.` };
  }
  return { kind: "number", text };
}
