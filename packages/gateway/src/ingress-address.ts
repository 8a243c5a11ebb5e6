import { AppError, carrierNames, limits } from "@vocalhost/protocol";
import type { SocketRouteRequest } from "@vocalhost/base/peers/controller-api";
import type { RequestPath } from "./request-path.ts";

export type Ingress = SocketRouteRequest["ingress"];

/** The parts of a socket's address. A token implies the agent; without either, the start message must name it. */
export interface IngressAddress {
  ingress: Ingress;
  serviceHost: string | undefined;
  token: string | undefined;
  /** base64 of JSON */
  body: string | undefined;
}

/** Returns whether a path belongs to the socket ingress, valid or not. */
export function isIngressPath({ decoded }: RequestPath): boolean {
  return /^\/ws(?:\/|$)/.test(decoded);
}

/**
 * Parses `/ws/{ingress}/{agent}.{org}[/{token}]`. Alternatives are `?serviceHost=` with an optional token as last
 * segment, or the token alone. The token comes from the Authorization header, else `?token=`, else the path. Throws
 * the error for the client.
 */
export function parseIngressAddress(path: RequestPath, authorization: string | undefined): IngressAddress {
  const [, , name = "", ...segments] = path.decoded.split("/");
  const ingress = INGRESSES.find((known) => known === name);
  const query = new URLSearchParams(path.query);
  const named = query.get("serviceHost") ?? undefined;
  const isHostFirst = segments.length > 1 || isServiceHost(segments[0] ?? "");
  const hasHostSegment = ingress === "generic" ? named === undefined : isHostFirst && named === undefined;
  const [host = named, last, ...tooMany] = hasHostSegment ? segments : [named, ...segments];
  if (ingress === undefined || tooMany.length > 0) throw new AppError("NOT_FOUND");
  const bearer = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  const token = checkToken(bearer ?? (query.get("token") || last || undefined));
  if (host === undefined && token === undefined && ingress !== "twilio")
    throw new AppError("GENERIC_BAD_REQUEST", { message: "Name the agent: ?serviceHost=agent.organization" });
  return {
    ingress,
    serviceHost: host === undefined ? undefined : checkServiceHost(host),
    token,
    body: checkBody(query.get("body") ?? undefined),
  };
}

/** Throws the error for the client unless the text can be an `agent.organization`. */
export function checkServiceHost(text: string): string {
  if (!isServiceHost(text)) throw new AppError("NOT_FOUND", { message: "Service not found" });
  return text;
}

/** Tokens contain a dot too, but have more characters before it than a name. */
function isServiceHost(text: string): boolean {
  return /^[A-Za-z0-9-]{1,64}\.[A-Za-z0-9._-]{1,128}$/.test(text);
}

export function checkToken(text: string | undefined): string | undefined {
  if (text !== undefined && text.length > TOKEN_MAX_CHARACTERS) throw new AppError("TOKEN_INVALID");
  return text;
}

const INGRESSES = ["generic", ...carrierNames] as const satisfies readonly Ingress[];
const TOKEN_MAX_CHARACTERS = 2_048;

function checkBody(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  const base64 = text.replaceAll(" ", "+"); // a plus sign that was not percent-encoded
  if (!/^[+/\-_0-9A-Za-z]+={0,2}$/.test(base64)) throw notJson();
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length > limits.websocketStartBodyBytes) throw new AppError("PAYLOAD_TOO_LARGE");
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw notJson();
  }
  return bytes.toString("base64");
}

function notJson(): AppError {
  return new AppError("MALFORMED_JSON", { message: "The body parameter is not base64 of JSON" });
}
