/** A webhook or an upgrade, as the carrier signed it. */
export interface SignedRequest {
  method: string;
  /** Under the public name the carrier called. */
  url: string;
  headers: Record<string, string | string[] | undefined>;
  rawBody: string;
  nowMs: number;
}

export function header(request: SignedRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}

export function isForm(request: SignedRequest): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(header(request, "content-type") ?? "");
}

/** The address as it was called and, if it has no path, as people write it: without the slash. */
export function rootForms(url: string): string[] {
  const withoutSlash = url.replace(/^([a-z]+:\/\/[^/?]+)\/(?=\?|$)/, "$1");
  return withoutSlash === url ? [url] : [url, withoutSlash];
}

/** Base64 of the keyed hash of a text. */
export async function hmac(hash: "SHA-1" | "SHA-256", key: string, text: string): Promise<string> {
  const algorithm = { name: "HMAC", hash };
  const imported = await crypto.subtle.importKey("raw", utf8(key), algorithm, false, ["sign"]);
  return toBase64(new Uint8Array(await crypto.subtle.sign("HMAC", imported, utf8(text))));
}

export async function sha256Hex(text: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Compares without telling by its duration where the texts differ. */
export function equalTexts(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at += 1)
    difference |= given.charCodeAt(at) ^ expected.charCodeAt(at);
  return difference === 0;
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Empty when the text is no base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
