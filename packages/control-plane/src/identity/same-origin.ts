import { AppError } from "@vocalhost/protocol";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

export interface BrowserRequest {
  method: string;
  origin: string | undefined;
  secFetchSite: string | undefined;
  authorization: string | undefined;
  cookie: string | undefined;
  /** A WebSocket upgrade is a GET, which another site's page can make. */
  isUpgrade?: boolean;
}

/**
 * Browsers send cookies with requests of any page, so a request that a cookie authorises must come from our own
 * pages. Clients that send their credential themselves are exempt.
 */
export function requireSameOrigin(request: BrowserRequest, ownOrigins: readonly string[]): void {
  if (SAFE_METHODS.has(request.method.toUpperCase()) && !request.isUpgrade) return;
  if (request.authorization !== undefined || request.cookie === undefined) return;
  if (request.origin === undefined || !ownOrigins.includes(request.origin)) {
    throw new AppError("ORIGIN_NOT_ALLOWED");
  }
  // Old browsers do not send this header; if sent, it must agree.
  const site = request.secFetchSite;
  if (site !== undefined && site !== "same-origin" && site !== "none")
    throw new AppError("ORIGIN_NOT_ALLOWED");
}
