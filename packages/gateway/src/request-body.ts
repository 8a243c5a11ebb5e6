import type { IncomingMessage, ServerResponse } from "node:http";
import type { RawHeaders } from "./headers.ts";

export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/**
 * Returns `Connection: close` if an answer precedes the end of its request: unread bytes would follow on the
 * connection.
 */
export function afterUnreadBody({ req: request }: ServerResponse): RawHeaders {
  return request.complete || !hasBody(request) ? [] : ["connection", "close"];
}

/** Returns the framing of a body of unknown length; a known length is already in the headers. */
export function bodyFraming({ headers }: IncomingMessage): RawHeaders {
  return headers["transfer-encoding"] === undefined ? [] : ["transfer-encoding", "chunked"];
}
