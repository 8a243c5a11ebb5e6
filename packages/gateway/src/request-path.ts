/** A request's path, after the validation that all requests pass. */
export interface RequestPath {
  /** The original path, without the query. */
  raw: string;
  /** Decoded once; used for decisions only. */
  decoded: string;
  /** With its question mark, or empty. */
  query: string;
}

/**
 * Returns undefined for a path that another server could interpret differently. Such paths have absolute form, dot
 * segments, encoded slashes, backslashes, NUL, empty segments, or characters that a second decoding would change.
 */
export function parseRequestPath(url: string): RequestPath | undefined {
  if (!/^\/[\x21-\x7e]*$/.test(url) || url.includes("#")) return undefined;
  const mark = url.indexOf("?");
  const raw = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? "" : url.slice(mark);
  if (/%(?:2f|5c|00)|\\|\/\//i.test(raw)) return undefined;
  const decoded = decodeOnce(raw);
  if (decoded === undefined || isOdd(decoded)) return undefined;
  return { raw, decoded, query };
}

/** Returns whether a path belongs to the controller's private interface, in any spelling. */
export function isInternal({ decoded }: RequestPath): boolean {
  return /^\/internal(?:[/;?]|$)/i.test(decoded);
}

/** Returns whether the request uploads a build context, which may take long over a slow line. */
export function isUpload({ raw }: RequestPath): boolean {
  return raw.startsWith("/v1/builds/uploads/");
}

export interface SessionPath {
  agent: string;
  sessionId: string;
  /** The original path after the session id, with its leading slash. */
  rest: string;
}

/** Parses `/v1/public/{agent}/sessions/{id}/{path}`; returns undefined for every other path. */
export function parseSessionPath({ raw }: RequestPath): SessionPath | undefined {
  const match = /^\/v1\/public\/([A-Za-z0-9][A-Za-z0-9-]{0,63})\/sessions\/([A-Za-z0-9-]{1,64})(\/.*)$/.exec(
    raw,
  );
  if (!match) return undefined;
  const [, agent = "", sessionId = "", rest = ""] = match;
  return { agent, sessionId, rest };
}

/** Returns whether a path is reserved for the session server. Clients may only send it offers. */
export function isReserved(rest: string): boolean {
  const decoded = decodeOnce(rest);
  if (decoded === undefined) return true;
  const first = decoded.split(/[/;?#]/)[1]?.toLowerCase() ?? "";
  return first.startsWith("instance") || RESERVED.has(first);
}

const RESERVED = new Set([
  "",
  "bot",
  "client",
  "files",
  "internal",
  "livez",
  "readyz",
  "sessions",
  "start",
  "status",
  "whatsapp",
  "ws",
  "ws-client",
]);

function decodeOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function isOdd(decoded: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\x00-\x1f\x7f\\]|%(?:2e|2f|5c|00)|\/\.{1,2}(?:[/;]|$)/i.test(decoded);
}
