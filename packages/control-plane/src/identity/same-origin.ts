import { AppError } from "@vocalhost/protocol";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

export interface BrowserRequest {
  method: string;
  origin: string | undefined;
  secFetchSite: string | undefined;
  authorization: string | undefined;
  cookie: string | undefined;
  /** A WebSocket upgrade is a GET that a foreign page can make. */
  isUpgrade?: boolean;
}

/**
 * A cookie comes along whoever made the browser ask, so what it authorises must have been asked for by our own pages.
 * Callers that bring their credential themselves are not concerned.
 */
export function requireSameOrigin(request: BrowserRequest, ownOrigins: readonly string[]): void {
  if (SAFE_METHODS.has(request.method.toUpperCase()) && !request.isUpgrade) return;
  if (request.authorization !== undefined || request.cookie === undefined) return;
  if (request.origin === undefined || !ownOrigins.includes(request.origin)) {
    throw new AppError("ORIGIN_NOT_ALLOWED");
  }
  // Old browsers do not send it; those that do must agree.
  const site = request.secFetchSite;
  if (site !== undefined && site !== "same-origin" && site !== "none")
    throw new AppError("ORIGIN_NOT_ALLOWED");
}
