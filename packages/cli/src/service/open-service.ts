import { createApiClient, type ApiClient } from "@vocalhost/protocol";
import { readServiceVariables } from "../config.ts";
import { credentialsFile, type CredentialsFile } from "../credentials/credentials-file.ts";
import { findCredentials, requireToken, type Credentials } from "../credentials/find-credentials.ts";
import type { CommandContext } from "../define-command.ts";
import { Problem } from "../problem.ts";
import { toBaseUrl } from "./base-url.ts";
import { createServiceFetch } from "./service-fetch.ts";
import { explained } from "./explain.ts";
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
