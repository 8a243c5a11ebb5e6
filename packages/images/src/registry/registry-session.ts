import { z } from "zod";
import { ImageError } from "../image-error.ts";
import { toBasicAuth, type RegistryCredentials } from "./credentials.ts";
import {
  DEFAULT_LIMITS,
  readBody,
  sendRequest,
  type RegistryLimits,
  type RegistryRequest,
} from "./send-request.ts";

export interface RegistryOptions {
  credentials?: RegistryCredentials | undefined;
  /** Spoken to without TLS, besides those on this machine's own loopback. */
  plainRegistries?: readonly string[];
  limits?: Partial<RegistryLimits>;
  /** Asked for every URL, also of redirects and token servers, and again for each address its name leads to. @default all of them */
  mayReach?: (url: URL, address?: string) => boolean;
  signal?: AbortSignal | undefined;
}

/** Requests to one repository of a registry, with authentication where the registry asks for it. */
export interface RegistrySession {
  readonly registry: string;
  readonly limits: RegistryLimits;
  /** Paths are inside of the repository; what a registry gave out is taken as it is. */
  send(
    request: Pick<RegistryRequest, "method"> & {
      path: string;
      headers?: Record<string, string>;
      body?: RegistryRequest["body"];
      /** Ends it; without one the limit of a request does. */
      signal?: AbortSignal;
    },
  ): Promise<Response>;
  read(response: Response, maxBytes: number): Promise<Buffer>;
}

export interface SessionPlace {
  registry: string;
  repository: string;
  /** The image in messages, as the user named it. */
  name: string;
  actions: "pull" | "pull,push";
}

const TokenAnswer = z.object({ token: z.string().optional(), access_token: z.string().optional() });
const TOKEN_MAX_BYTES = 256 * 1024;

export function createRegistrySession(place: SessionPlace, options: RegistryOptions): RegistrySession {
  const { registry, repository } = place;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const sending = { registry, limits, mayReach: options.mayReach ?? (() => true) };
  const root = new URL(`${isPlain(registry, options) ? "http" : "https"}://${apiHost(registry)}`);
  let authorization: string | undefined;

  const limited = (signal: AbortSignal = AbortSignal.timeout(limits.requestMs)): AbortSignal =>
    AbortSignal.any([signal, ...(options.signal ? [options.signal] : [])]);

  async function answer(challenge: Challenge): Promise<string> {
    if (challenge.scheme === "basic") {
      if (!options.credentials) throw unauthorized(place, undefined);
      return toBasicAuth(options.credentials);
    }
    const url = tokenUrl(challenge, place, root);
    const headers: Record<string, string> = options.credentials
      ? { authorization: toBasicAuth(options.credentials) }
      : {};
    const response = await sendRequest({ method: "GET", url, headers, signal: limited() }, sending);
    const body = await readBody(response, { ...sending, maxBytes: TOKEN_MAX_BYTES });
    if ([400, 401, 403].includes(response.status)) throw unauthorized(place, options.credentials);
    const parsed = response.ok ? parseJson(TokenAnswer, body) : undefined;
    const token = parsed?.token ?? parsed?.access_token;
    if (!token)
      throw new ImageError(
        "REGISTRY_FAILED",
        `The token server ${url.host} of the registry ${registry} gave no token (it answered ${response.status})`,
      );
    return `Bearer ${token}`;
  }

  return {
    registry,
    limits,
    async send({ method, path, headers = {}, body, signal }) {
      const url = /^https?:/.test(path) ? new URL(path) : new URL(`/v2/${repository}${path}`, root);
      const attempt = (): Promise<Response> => {
        // A redirect may lead to another host than the registry.
        const isOurs = url.origin === root.origin && authorization !== undefined;
        const sent = { ...headers, ...(isOurs ? { authorization: authorization ?? "" } : {}) };
        return sendRequest(
          { method, url, headers: sent, signal: limited(signal), ...(body ? { body } : {}) },
          sending,
        );
      };
      let response = await attempt();
      const isRepeatable = body === undefined || body instanceof Uint8Array;
      if (response.status === 401 && isRepeatable) {
        const challenge = parseChallenge(response.headers.get("www-authenticate"));
        await response.body?.cancel();
        if (!challenge) throw unauthorized(place, options.credentials);
        authorization = await answer(challenge);
        response = await attempt();
      }
      if (response.status !== 401 && response.status !== 403) return response;
      await response.body?.cancel();
      throw unauthorized(place, options.credentials);
    },
    read: (response, maxBytes) => readBody(response, { ...sending, maxBytes }),
  };
}

export function parseJson<Content>(schema: z.ZodType<Content>, bytes: Buffer): Content | undefined {
  try {
    return schema.safeParse(JSON.parse(bytes.toString())).data;
  } catch {
    return undefined;
  }
}

function tokenUrl(challenge: Challenge & { scheme: "bearer" }, place: SessionPlace, root: URL): URL {
  const url = URL.parse(challenge.realm);
  // Credentials go there, so it must be no less private than the registry is.
  if (!url || (url.protocol !== "https:" && !(url.protocol === "http:" && root.protocol === "http:")))
    throw new ImageError(
      "REGISTRY_FAILED",
      `The registry ${place.registry} sends to a token server without TLS, or to none`,
    );
  if (challenge.service !== undefined) url.searchParams.set("service", challenge.service);
  url.searchParams.set("scope", challenge.scope ?? `repository:${place.repository}:${place.actions}`);
  return url;
}

function unauthorized(
  { registry, name }: SessionPlace,
  credentials: RegistryCredentials | undefined,
): ImageError {
  const message = credentials
    ? `The registry ${registry} refused the credentials of '${credentials.username}' for ${name}`
    : `The registry ${registry} wants credentials for ${name}, and none were given`;
  return new ImageError("IMAGE_UNAUTHORIZED", message);
}

function isPlain(registry: string, { plainRegistries = [] }: RegistryOptions): boolean {
  if (plainRegistries.includes(registry)) return true;
  const host = registry.replace(/:[0-9]+$/, "");
  return host === "localhost" || host === "[::1]" || /^127(?:\.[0-9]{1,3}){3}$/.test(host);
}

function apiHost(registry: string): string {
  return registry === "docker.io" ? "registry-1.docker.io" : registry;
}

/** The challenge of a registry that answers 401. */
type Challenge =
  | { scheme: "basic" }
  | { scheme: "bearer"; realm: string; service: string | undefined; scope: string | undefined };

/** Undefined if it is nothing we can answer. */
function parseChallenge(header: string | null): Challenge | undefined {
  const [, scheme = "", rest = ""] = /^\s*([a-z]+)\s*(.*)$/is.exec(header ?? "") ?? [];
  if (/^basic$/i.test(scheme)) return { scheme: "basic" };
  if (!/^bearer$/i.test(scheme)) return undefined;
  const parameters = new Map<string, string>();
  for (const [, name = "", quoted, plain] of rest.matchAll(
    /([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi,
  ))
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "");
  const realm = parameters.get("realm");
  if (!realm) return undefined;
  return { scheme: "bearer", realm, service: parameters.get("service"), scope: parameters.get("scope") };
}
