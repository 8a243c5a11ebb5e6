import { createApiClient, type ApiClient } from "@vocalhost/protocol";
import { readServiceVariables } from "../config.ts";
import { credentialsFile, type CredentialsFile } from "../credentials/credentials-file.ts";
import { findCredentials, requireToken, type Credentials } from "../credentials/find-credentials.ts";
import type { CommandContext } from "../define-command.ts";
import { exitCodes, Problem } from "../problem.ts";
import { version } from "../version.ts";
import { explained, toBaseUrl } from "./explain.ts";
import type { ServiceOptions } from "./service-options.ts";

/** The service a command talks to, with its credentials. */
export interface Service {
  api: ApiClient;
  /** Ends in `/v1`. */
  apiUrl: string;
  /** Undefined with a key, which belongs to one. */
  organization: string | undefined;
  credentials: Credentials;
  /** Sets the callback for the number of bytes sent of an upload. */
  watchUpload(onSent: ((sentBytes: number) => void) | undefined): void;
}

/** Whether the token is a private key. Keys belong to an organisation, other tokens to a person. */
export function isKey(token: string): boolean {
  return token.startsWith("sk_");
}

/** Reads the credentials in use, and the file that stores them. */
export async function readCredentials(): Promise<{ file: CredentialsFile; credentials: Credentials }> {
  const variables = readServiceVariables();
  const file = credentialsFile(variables.configFolder);
  return { file, credentials: await findCredentials(variables, file) };
}

/** Opens the service with the stored credentials, or throws a `Problem`. */
export async function openService(options: ServiceOptions, { ui, signal }: CommandContext): Promise<Service> {
  const { credentials } = await readCredentials();
  if (credentials.remark !== undefined) ui.note(credentials.remark);
  const token = requireToken(credentials);
  const apiUrl = toBaseUrl(credentials.apiUrl);
  let onSent: ((sentBytes: number) => void) | undefined;
  const fetch = createServiceFetch({ signal, onUpload: (sentBytes) => onSent?.(sentBytes) });
  const wanted = options.organization ?? credentials.organization;
  const organization = isKey(token)
    ? undefined
    : (wanted ?? (await firstOrganization({ apiUrl, token, fetch })));
  const scope = organization === undefined ? {} : { organization };
  return {
    api: createApiClient({ baseUrl: apiUrl, token, fetch, ...scope }),
    apiUrl,
    organization,
    credentials,
    watchUpload(watcher) {
      onSent = watcher;
    },
  };
}

/** Opens the service for starting sessions, with the given public key or the default one. */
export async function openPublicService(
  key: string | undefined,
  { ui, signal }: CommandContext,
): Promise<Pick<Service, "api" | "apiUrl"> & { token: string }> {
  const { credentials } = await readCredentials();
  if (credentials.remark !== undefined) ui.note(credentials.remark);
  const token = key ?? credentials.publicKey;
  if (token === undefined)
    throw new Problem("no_public_key", "There is no public key to start sessions with", {
      why: "Sessions are started with a public key, which may appear in web pages and can only do that.",
      fixes: ["Create one: vocalhost keys create --default", "Or give one with --api-key pk_…"],
    });
  const apiUrl = toBaseUrl(credentials.apiUrl);
  const fetch = createServiceFetch({ signal });
  return { api: createApiClient({ baseUrl: apiUrl, token, fetch }), apiUrl, token };
}

async function firstOrganization(options: {
  apiUrl: string;
  token: string;
  fetch: typeof fetch;
}): Promise<string> {
  const { apiUrl } = options;
  const api = createApiClient({ ...options, baseUrl: apiUrl });
  const { organizations } = await explained({ apiUrl }, api.organizations());
  const [first] = organizations;
  if (first) return first.name;
  throw new Problem("no_organization", "You do not belong to an organisation", {
    fixes: ["Ask an owner for an invitation.", "Check who you are: vocalhost auth whoami"],
  });
}

type Body<Options> = (service: Service, options: Options, context: CommandContext) => Promise<number>;

/** Wraps a command that talks to the service: it needs a sign-in, and its refusals are explained. */
export function onService<Options extends ServiceOptions>(
  body: Body<Options>,
): (options: Options, context: CommandContext) => Promise<number> {
  return async (options, context) => {
    const service = await openService(options, context);
    return whereItStands(
      context,
      () => "Nothing was changed.",
      () => explained(service, body(service, options, context)),
    );
  };
}

/** Runs `work`; after Ctrl-C it reports which steps are done. */
export async function whereItStands(
  { ui, signal }: Pick<CommandContext, "ui" | "signal">,
  standing: () => string,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!signal.aborted) throw error;
    ui.problem(new Problem("interrupted", `Interrupted. ${standing()}`));
    return exitCodes.interrupted;
  }
}

interface ServiceFetchOptions {
  /** Aborts reads. Requests that change something are allowed to finish, so that their outcome is known. */
  signal: AbortSignal;
  /** Bytes of an upload that have gone out. */
  onUpload?: (sentBytes: number) => void;
}

const READ_MS = 30_000;
const CHANGE_MS = 60_000;
const UPLOAD_MS = 15 * 60_000; // how long an upload's address lives

/** A fetch with a user agent, a deadline and the abort signal of Ctrl-C. */
export function createServiceFetch({ signal, onUpload }: ServiceFetchOptions): typeof fetch {
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("user-agent", `VocalhostCLI/${version}`);
    if (init.signal) return fetch(input, { ...init, headers }); // a stream, which has its own end
    if (init.body instanceof FormData) {
      const form = new Response(init.body);
      headers.set("content-type", form.headers.get("content-type") ?? "");
      const until = AbortSignal.any([signal, AbortSignal.timeout(UPLOAD_MS)]);
      const body = form.body?.pipeThrough(counted(onUpload));
      const streamed = { ...init, headers, body: body ?? null, duplex: "half", signal: until };
      return fetch(input, streamed as RequestInit);
    }
    const isRead = (init.method ?? "GET") === "GET";
    const deadline = AbortSignal.timeout(isRead ? READ_MS : CHANGE_MS);
    return fetch(input, {
      ...init,
      headers,
      signal: isRead ? AbortSignal.any([signal, deadline]) : deadline,
    });
  };
}

function counted(onBytes: ((count: number) => void) | undefined): TransformStream<Uint8Array, Uint8Array> {
  let count = 0;
  return new TransformStream({
    transform(piece, controller) {
      count += piece.length;
      onBytes?.(count);
      controller.enqueue(piece);
    },
  });
}
