/** A request's address after the one check all of them pass. */
export interface RequestPath {
  /** As it was sent, without the query. */
  raw: string;
  /** Decoded once, for decisions only. */
  decoded: string;
  /** With its question mark, or empty. */
  query: string;
}

/**
 * Undefined for anything that another server could read as a different path than we do: absolute form, dot segments,
 * encoded slashes, backslashes, NUL, empty segments, what a second decoding would change.
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

/** Paths of the controller's private interface, in any spelling. */
export function isInternal({ decoded }: RequestPath): boolean {
  return /^\/internal(?:[/;?]|$)/i.test(decoded);
}

/** Build contexts are large, and lines are slow. */
export function isUpload({ raw }: RequestPath): boolean {
  return raw.startsWith("/v1/builds/uploads/");
}

export interface SessionPath {
  agent: string;
  sessionId: string;
  /** After the session id, as it was sent, with its leading slash. */
  rest: string;
}

/** `/v1/public/{agent}/sessions/{id}/{path}`; undefined for every other path. */
export function parseSessionPath({ raw }: RequestPath): SessionPath | undefined {
  const match = /^\/v1\/public\/([A-Za-z0-9][A-Za-z0-9-]{0,63})\/sessions\/([A-Za-z0-9-]{1,64})(\/.*)$/.exec(
    raw,
  );
  if (!match) return undefined;
  const [, agent = "", sessionId = "", rest = ""] = match;
  return { agent, sessionId, rest };
}

/** The session server's own paths: no caller has business there, except with an offer. */
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
