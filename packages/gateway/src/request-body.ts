import type { IncomingMessage, ServerResponse } from "node:http";
import type { RawHeaders } from "./headers.ts";

export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** An answer that comes before the request has ended may leave bytes nobody reads: the connection ends with it. */
export function afterUnreadBody({ req: request }: ServerResponse): RawHeaders {
  return request.complete || !hasBody(request) ? [] : ["connection", "close"];
}

/** How a body of unknown length goes on; a known length is in the headers already. */
export function bodyFraming({ headers }: IncomingMessage): RawHeaders {
  return headers["transfer-encoding"] === undefined ? [] : ["transfer-encoding", "chunked"];
}
