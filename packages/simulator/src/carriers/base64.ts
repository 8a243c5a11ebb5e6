export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES));
  return btoa(text);
}

/** Undefined unless the text is base64 of the standard alphabet, with its padding and nothing else. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}

const PIECE_BYTES = 8192; // as many arguments as every engine takes
