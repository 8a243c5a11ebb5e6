import type { ServiceVariables } from "../config.ts";
import { Problem, usageProblem } from "../problem.ts";
import type { CredentialsFile } from "./credentials-file.ts";

/** Which service is asked, and as whom. */
export interface Credentials {
  apiUrl: string;
  token: string | undefined;
  organization: string | undefined;
  publicKey: string | undefined;
  source: "environment" | "file" | "none";
  remark?: string | undefined;
}

export const DEFAULT_API_URL = "http://localhost:7870"; // `vocalhost up` on this machine

/** The environment wins over the file; what the file holds goes to the service it was made for and no other. */
export async function findCredentials(
  variables: ServiceVariables,
  file: CredentialsFile,
): Promise<Credentials> {
  const named = variables.apiUrl === undefined ? undefined : parseApiUrl(variables.apiUrl);
  if (variables.apiKey !== undefined && named !== undefined)
    return { ...NOBODY, apiUrl: named, token: variables.apiKey, source: "environment" };
  const stored = await file.read();
  const isSame =
    stored && (named === undefined || new URL(stored.credentials.apiUrl).origin === new URL(named).origin);
  const known = isSame ? stored.credentials : undefined;
  const apiUrl = named ?? known?.apiUrl ?? DEFAULT_API_URL;
  const remark = stored?.remark;
  if (variables.apiKey !== undefined)
    return { ...NOBODY, apiUrl, token: variables.apiKey, source: "environment", remark };
  if (!known) return { ...NOBODY, apiUrl, remark };
  return {
    apiUrl,
    token: known.token,
    organization: known.organization,
    publicKey: known.publicKey,
    source: "file",
    remark,
  };
}

/** Throws a `Problem` without a sign-in. */
export function requireToken(credentials: Credentials): string {
  if (credentials.token !== undefined) return credentials.token;
  throw new Problem("not_signed_in", `You are not signed in to ${credentials.apiUrl}`, {
    why: "This command needs an account.",
    fixes: ["Sign in: vocalhost auth login", "In a pipeline, set VOCALHOST_API_KEY and VOCALHOST_API_URL."],
  });
}

const NOBODY = { token: undefined, organization: undefined, publicKey: undefined, source: "none" } as const;

function parseApiUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password)
    return url.href.replace(/\/+$/, "");
  throw usageProblem(
    "VOCALHOST_API_URL is not the address of a service",
    "Set it to an address such as https://voice.example.com.",
  );
}
