import type { GatewayLog } from "./gateway-options.ts";
import { isIngressPath } from "./ingress-address.ts";
import type { RequestPath } from "./request-path.ts";

export interface Access {
  method: string;
  /** Undefined if the path could not be parsed. */
  path: RequestPath | undefined;
  status: number;
  startedAtMs: number;
  sessionId?: string;
}

/**
 * Logs one line per request. It omits the query and the last segment of a socket's path, because both may hold
 * tokens.
 */
export function logAccess(log: GatewayLog, access: Access): void {
  const { method, status, startedAtMs, sessionId } = access;
  const path = shownPath(access.path);
  const fields = {
    method,
    path,
    status,
    ms: Math.round(performance.now() - startedAtMs),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
  // Successful reads are logged at debug level, because dashboards poll all day.
  const isRead = /^(?:GET|HEAD|OPTIONS)$/.test(method) && status >= 200 && status < 400;
  log[isRead ? "debug" : "info"](fields, "request served");
}

export function shownPath(path: RequestPath | undefined): string {
  if (!path) return "(not valid)";
  if (!isIngressPath(path)) return path.raw.slice(0, PATH_MAX_CHARACTERS);
  const [, ws = "", ingress = "", ...segments] = path.decoded.split("/");
  return ["", ws, ingress, ...segments.slice(0, -1)].join("/").slice(0, PATH_MAX_CHARACTERS);
}

const PATH_MAX_CHARACTERS = 300;
