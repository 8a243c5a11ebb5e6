/** A webhook or an upgrade, as the carrier signed it. */
export interface SignedRequest {
  method: string;
  /** Under the public name the carrier called. */
  url: string;
  headers: Record<string, string | string[] | undefined>;
  rawBody: string;
  nowMs: number;
}

/** "off": there is no key to check with. */
export type SignatureVerdict = "valid" | "invalid" | "off";

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
