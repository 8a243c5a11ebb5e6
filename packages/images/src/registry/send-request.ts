import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Agent } from "undici";
import { ImageError } from "../image-error.ts";

/** Limits of one request, so that a registry that hangs holds up no caller. */
export interface RegistryLimits {
  /** Limit from the first byte sent to the last byte of the answer. @default 15000 */
  requestMs: number;
  /** The longest time without progress in an upload. @default 60000 */
  stallMs: number;
}

export const DEFAULT_LIMITS: RegistryLimits = { requestMs: 15_000, stallMs: 60_000 };

export interface RegistryRequest {
  method: "GET" | "HEAD" | "POST" | "PATCH" | "PUT";
  url: URL;
  headers: Record<string, string>;
  body?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Ends it when its time is up. */
  signal: AbortSignal;
}

export interface SendOptions {
  /** The registry in messages, such as `registry.example.com:5000`. */
  registry: string;
  limits: RegistryLimits;
  /** Asked for every URL, also of redirects and token servers, and for each address its name leads to. */
  mayReach: (url: URL, address?: string) => boolean;
}

const REDIRECTS_MAX = 5;

/** Follows redirects, without the credentials when they lead elsewhere. */
export async function sendRequest(request: RegistryRequest, options: SendOptions): Promise<Response> {
  let { url, headers } = request;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    if (!options.mayReach(url)) throw refused(options.registry, url.host);
    const response = await fetchOnce({ ...request, url, headers }, options);
    const location = response.headers.get("location");
    const isRedirect = [301, 302, 303, 307, 308].includes(response.status) && location !== null;
    if (!isRedirect || (request.method !== "GET" && request.method !== "HEAD")) return response;
    await response.body?.cancel();
    const next = new URL(location, url);
    if (next.protocol !== "https:" && next.protocol !== url.protocol) break;
    if (next.origin !== url.origin) headers = withoutAuthorization(headers);
    url = next;
  }
  throw new ImageError("REGISTRY_FAILED", `The registry ${options.registry} redirects without end`);
}

/** Reads an answer that should be small. */
export async function readBody(
  response: Response,
  { maxBytes, registry }: { maxBytes: number; registry: string },
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw new ImageError(
          "REGISTRY_FAILED",
          `The registry ${registry} answered with more than ${maxBytes} bytes`,
        );
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof ImageError ? error : unreachable(error, registry);
  }
  return Buffer.concat(chunks);
}

async function fetchOnce(request: RegistryRequest, options: SendOptions): Promise<Response> {
  const { method, url, headers, body, signal } = request;
  const init = {
    method,
    headers,
    signal,
    redirect: "manual" as const,
    dispatcher: new Agent({ pipelining: 0, connect: { lookup: guardedLookup(url, options) } }),
    ...(body === undefined
      ? {}
      : { body: body as NonNullable<RequestInit["body"]>, duplex: "half" as const }),
  };
  try {
    return await fetch(url, init);
  } catch (error) {
    throw unreachable(error, options.registry);
  }
}

/** Judges the addresses that the connection then uses, so that a second answer of DNS cannot be another. */
function guardedLookup(url: URL, { registry, mayReach }: SendOptions): LookupFunction {
  return (hostname, lookupOptions, callback) =>
    lookup(hostname, { ...lookupOptions, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      const inside = addresses?.find(({ address }) => !mayReach(url, address));
      if (error || !first) callback(error, "");
      else if (inside) callback(refused(registry, `${url.host} (${inside.address})`), "");
      else if (lookupOptions.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
}

function refused(registry: string, place: string): ImageError {
  return new ImageError(
    "REGISTRY_UNREACHABLE",
    `The registry ${registry} leads to ${place}, which this service does not go to`,
  );
}

function unreachable(error: unknown, registry: string): unknown {
  const { name, cause } = error as Error;
  if (cause instanceof ImageError) return cause;
  if (name === "AbortError") return error; // the caller has ended it
  const reason = name === "TimeoutError" ? "it did not answer in time" : reasonOf(cause ?? error);
  return new ImageError("REGISTRY_UNREACHABLE", `The registry ${registry} cannot be reached: ${reason}`, {
    cause: error,
  });
}

function reasonOf(cause: unknown): string {
  const { code = "", message = "" } = cause as { code?: string; message?: string };
  const known: Record<string, string> = {
    ECONNREFUSED: "nothing listens there (connection refused)",
    ENOTFOUND: "there is no host of that name",
    EAI_AGAIN: "its name could not be looked up",
    ECONNRESET: "the connection was cut",
    UND_ERR_SOCKET: "the connection was cut",
    EHOSTUNREACH: "there is no way to that host",
    ENETUNREACH: "there is no way to that network",
    ETIMEDOUT: "it did not answer",
    UND_ERR_CONNECT_TIMEOUT: "it did not answer",
    DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by itself",
    SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by an authority this machine does not know",
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by an authority this machine does not know",
    CERT_HAS_EXPIRED: "its certificate has expired",
    ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
    ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS; name it among the registries without TLS",
    ERR_SSL_PACKET_LENGTH_TOO_LONG: "it does not speak TLS; name it among the registries without TLS",
  };
  return known[code] ?? (code || message || "the request failed");
}

function withoutAuthorization(headers: Record<string, string>): Record<string, string> {
  const { authorization: _secret, ...rest } = headers;
  return rest;
}
