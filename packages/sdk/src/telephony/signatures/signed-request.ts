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
