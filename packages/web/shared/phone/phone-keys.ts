/** The keys of a telephone, row by row, with the letters people know them by. */
export const phoneKeys = [
  { key: "1", letters: "" },
  { key: "2", letters: "ABC" },
  { key: "3", letters: "DEF" },
  { key: "4", letters: "GHI" },
  { key: "5", letters: "JKL" },
  { key: "6", letters: "MNO" },
  { key: "7", letters: "PQRS" },
  { key: "8", letters: "TUV" },
  { key: "9", letters: "WXYZ" },
  { key: "*", letters: "" },
  { key: "0", letters: "+" },
  { key: "#", letters: "" },
] as const;

/** Returns true for the keys of every telephone and for the four that only some have. */
export function isPhoneKey(key: string): boolean {
  return isDialKey(key) || /^[A-D]$/.test(key);
}

/** Returns true for keys that a phone number can contain. */
export function isDialKey(key: string): boolean {
  return phoneKeys.some((known) => known.key === key);
}
