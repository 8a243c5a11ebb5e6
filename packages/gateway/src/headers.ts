/** Header names and values in one flat list, as Node's parser and writers use them. */
export type RawHeaders = string[];

/** Removes the headers that identify the client or describe the connection, and those an instance must not get. */
export function headersForInstance(raw: readonly string[]): RawHeaders {
  const dropped = namedByConnection(raw);
  return keep(raw, (name) => !dropped.has(name) && !NOT_FOR_INSTANCES.has(name) && !isForwarded(name));
}

/** Removes the headers of an instance that affect more than its own answer. */
export function headersFromInstance(raw: readonly string[]): RawHeaders {
  const dropped = namedByConnection(raw);
  return keep(raw, (name) => !dropped.has(name) && !NOT_FROM_INSTANCES.has(name) && !isCors(name));
}

/** Removes the headers that concern only one hop, in either direction. */
export function headersEndToEnd(raw: readonly string[]): RawHeaders {
  const dropped = namedByConnection(raw);
  return keep(raw, (name) => !dropped.has(name) && !HOP_BY_HOP.has(name));
}

export function withoutForwarded(raw: readonly string[]): RawHeaders {
  return keep(raw, (name) => !isForwarded(name));
}

export function withoutCors(raw: readonly string[]): RawHeaders {
  return keep(raw, (name) => !isCors(name));
}

/** Returns all values of one name, in order. */
export function valuesOf(raw: readonly string[], wanted: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2)
    if (raw[index]?.toLowerCase() === wanted) values.push(raw[index + 1] ?? "");
  return values;
}

/** Returns the comma-separated values of these headers, in lower case. */
export function tokensOf(raw: readonly string[], wanted: string): string[] {
  return valuesOf(raw, wanted)
    .flatMap((value) => value.split(","))
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== "");
}

const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
  "expect", // the gateway's own server answers it
]);

const NOT_FOR_INSTANCES = new Set([...HOP_BY_HOP, "host", "authorization", "cookie", "cookie2"]);

// Cookies, and headers that a browser applies to the whole host, which bots share with the dashboard.
const NOT_FROM_INSTANCES = new Set([
  ...HOP_BY_HOP,
  "set-cookie",
  "set-cookie2",
  "alt-svc",
  "clear-site-data",
  "content-security-policy",
  "content-security-policy-report-only",
  "nel",
  "public-key-pins",
  "report-to",
  "reporting-endpoints",
  "service-worker-allowed",
  "strict-transport-security",
  "www-authenticate",
  "x-content-type-options",
]);

const FRAMING = new Set(["content-length", "host"]);

// Returns the names in `Connection`, which concern one hop only. Headers that delimit the message are never removed.
function namedByConnection(raw: readonly string[]): Set<string> {
  return new Set(tokensOf(raw, "connection").filter((name) => !FRAMING.has(name)));
}

function isForwarded(name: string): boolean {
  return name.startsWith("x-forwarded-") || name === "forwarded" || name === "x-real-ip" || name === "via";
}

function isCors(name: string): boolean {
  return name.startsWith("access-control-");
}

function keep(raw: readonly string[], wanted: (name: string) => boolean): RawHeaders {
  const kept: RawHeaders = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? "";
    if (wanted(name.toLowerCase())) kept.push(name, raw[index + 1] ?? "");
  }
  return kept;
}
