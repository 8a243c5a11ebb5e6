import { createApiClient, type ApiClient } from "@vocalhost/protocol";
import { readServiceVariables } from "../config.ts";
import { credentialsFile, type CredentialsFile } from "../credentials/credentials-file.ts";
import { findCredentials, requireToken, type Credentials } from "../credentials/find-credentials.ts";
import type { CommandContext } from "../define-command.ts";
import { exitCodes, Problem } from "../problem.ts";
import { version } from "../version.ts";
import { explained, toBaseUrl } from "./explain.ts";
import type { ServiceOptions } from "./service-options.ts";

/** The service a command asks, as somebody. */
export interface Service {
  api: ApiClient;
  /** Ends in `/v1`. */
  apiUrl: string;
  /** Undefined with a key, which belongs to one. */
  organization: string | undefined;
  credentials: Credentials;
  /** Who is told how many bytes of an upload have gone out. */
  watchUpload(onSent: ((sentBytes: number) => void) | undefined): void;
}

/** Keys belong to an organisation, tokens to a person. */
export function isKey(token: string): boolean {
  return token.startsWith("sk_");
}

/** Where credentials are kept, and which are used. */
export async function readCredentials(): Promise<{ file: CredentialsFile; credentials: Credentials }> {
  const variables = readServiceVariables();
  const file = credentialsFile(variables.configFolder);
  return { file, credentials: await findCredentials(variables, file) };
}

/** Signed in, or a `Problem`. */
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

/** For starting sessions, with the public key that was given or is the default one. */
export async function openPublicService(
  key: string | undefined,
  { ui, signal }: CommandContext,
): Promise<Pick<Service, "api" | "apiUrl"> & { token: string }> {
  const { credentials } = await readCredentials();
  if (credentials.remark !== undefined) ui.note(credentials.remark);
  const token = key ?? credentials.publicKey;
  if (token === undefined)
    throw new Problem("no_public_key", "There is no public key to start sessions with", {
      why: "Sessions are started with a public key, which may appear in web pages and can do nothing else.",
      fixes: ["Create and keep one: vocalhost keys create --default", "Or give one with --api-key pk_…"],
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

/** A command that asks the service: signed in, and with its refusals explained. */
export function onService<Options extends ServiceOptions>(
  body: Body<Options>,
): (options: Options, context: CommandContext) => Promise<number> {
  return async (options, context) => {
    const service = await openService(options, context);
    return whereItStands(
      context,
      () => "This was only a query; nothing was changed.",
      () => explained(service, body(service, options, context)),
    );
  };
}

/** Runs something long; at Ctrl-C says what has been done and what has not. */
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
  /** Ends reads. What changes something is let finish, so that it is known whether it did. */
  signal: AbortSignal;
  /** Bytes of an upload that have gone out. */
  onUpload?: (sentBytes: number) => void;
}

const READ_MS = 30_000;
const CHANGE_MS = 60_000;
const UPLOAD_MS = 15 * 60_000; // how long an upload's address lives

/** As commands ask the service: with a name, a deadline, and an eye on Ctrl-C. */
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
