import type { GatewayLog } from "./gateway-options.ts";
import { isIngressPath } from "./ingress-address.ts";
import type { RequestPath } from "./request-path.ts";

export interface Access {
  method: string;
  /** Undefined when it could not be read. */
  path: RequestPath | undefined;
  status: number;
  startedAtMs: number;
  sessionId?: string;
}

/** One line per request: no query, and of socket addresses no last segment, because tokens travel there. */
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
  // Who only looks is of interest when something is wrong: dashboards look all day.
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
