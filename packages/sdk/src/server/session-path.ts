import type { IncomingMessage } from "node:http";
import { doors } from "./doors/doors.ts";
import type { SessionTable } from "./session-table.ts";

/** Marks a raw request that arrived under a session's path. */
export const SESSION_OF_REQUEST: unique symbol = Symbol("session");

export interface SessionRequest extends IncomingMessage {
  [SESSION_OF_REQUEST]?: string;
}

// The server's own routes do not exist under a session, except those that a door adds there.
const OWN_PATHS = /^\/(?:$|start$|status$|client(?:\/|$)|files\/|instance(?:\/|$)|sessions\/)/;
const DOOR_PATHS = doors.flatMap(({ paths }) => paths);

/** Rewrites `/sessions/{id}/rest` of a known session to `/rest`, so that custom routes are found there too. */
export function unwrapSessionPath(request: SessionRequest, sessions: SessionTable): string {
  const url = request.url ?? "/";
  const match = /^\/sessions\/([^/?#]+)(\/[^?#]*)(\?[^#]*)?$/.exec(url);
  if (!match) return url;
  const [, id = "", path = "/", query = ""] = match;
  if (!sessions.get(id) || isOwnPath(path) || isOddPath(path)) return url;
  request[SESSION_OF_REQUEST] = id;
  return path + query;
}

// Compares the path as the router will decode it.
function isOwnPath(path: string): boolean {
  try {
    const decoded = decodeURIComponent(path);
    return (
      OWN_PATHS.test(decoded) ||
      DOOR_PATHS.some((own) => (own.endsWith("/") ? decoded.startsWith(own) : decoded === own))
    );
  } catch {
    return true; // cannot be a session's path
  }
}

// A path that a second decoding could change is left alone, and not found.
function isOddPath(path: string): boolean {
  return /%(?:2e|2f|5c|00)|\\|\/\.{1,2}(?:\/|$)|\/\//i.test(path);
}
