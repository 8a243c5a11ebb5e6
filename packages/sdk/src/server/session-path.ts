import type { IncomingMessage } from "node:http";
import { doors } from "./doors/doors.ts";
import type { SessionTable } from "./session-table.ts";

/** Marks a raw request that arrived under a session's path. */
export const SESSION_OF_REQUEST: unique symbol = Symbol("session");

export interface SessionRequest extends IncomingMessage {
  [SESSION_OF_REQUEST]?: string;
}

// The server's own routes make no sense under a session, except those a door has there itself.
const OWN_PATHS = /^\/(?:$|start$|status$|client(?:\/|$)|files\/|instance(?:\/|$)|sessions\/)/;
const DOOR_PATHS = doors.flatMap(({ paths }) => paths);

/** `/sessions/{id}/rest` of a known session becomes `/rest`, so that users' routes are found there too. */
export function unwrapSessionPath(request: SessionRequest, sessions: SessionTable): string {
  const url = request.url ?? "/";
  const match = /^\/sessions\/([^/?#]+)(\/[^?#]*)(\?[^#]*)?$/.exec(url);
  if (!match) return url;
  const [, id = "", path = "/", query = ""] = match;
  if (!sessions.get(id) || isOwnPath(path) || isOddPath(path)) return url;
  request[SESSION_OF_REQUEST] = id;
  return path + query;
}

// Judged as the router will read it.
function isOwnPath(path: string): boolean {
  try {
    const decoded = decodeURIComponent(path);
    return (
      OWN_PATHS.test(decoded) ||
      DOOR_PATHS.some((own) => (own.endsWith("/") ? decoded.startsWith(own) : decoded === own))
    );
  } catch {
    return true; // not a session's path
  }
}

// Anything a second decoding could turn into another path stays where it is and is not found.
function isOddPath(path: string): boolean {
  return /%(?:2e|2f|5c|00)|\\|\/\.{1,2}(?:\/|$)|\/\//i.test(path);
}
