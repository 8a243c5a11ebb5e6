import { createApiClient } from "@vocalhost/protocol";
import { text as readAll } from "node:stream/consumers";
import { readServiceVariables } from "../config.ts";
import { credentialsFile } from "../credentials/credentials-file.ts";
import { DEFAULT_API_URL, findCredentials } from "../credentials/find-credentials.ts";
import type { CommandContext } from "../define-command.ts";
import { openBrowser } from "../dev/open-browser.ts";
import { exitCodes, Problem, usageProblem } from "../problem.ts";
import { askFor, choose } from "../questions.ts";
import { answer, toFacts } from "../results.ts";
import { explained, toBaseUrl, toServiceUrl } from "../service/explain.ts";
import { createServiceFetch, isKey, onService, whereItStands } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { requestDeviceCode, waitForToken } from "./device-flow.ts";

interface Options {
  url: string | undefined;
  apiKey: boolean | undefined;
  browser: boolean;
  organization: string | undefined;
}

/** `vocalhost auth login` */
export async function login(options: Options, context: CommandContext): Promise<number> {
  const variables = readServiceVariables();
  const file = credentialsFile(variables.configFolder);
  const known = await findCredentials(variables, file).catch(ifDamaged);
  const serviceUrl = toServiceUrl(
    parseUrl(options.url) ?? known?.apiUrl ?? variables.apiUrl ?? DEFAULT_API_URL,
  );
  const place: Place = {
    serviceUrl,
    fetch: createServiceFetch({ signal: context.signal }),
    options,
    context,
  };
  return whereItStands(
    context,
    () => "Your sign-in has not changed.",
    async () => {
      const token = options.apiKey ? await readKey(context) : await askInBrowser(place);
      const { organization, organizations } = await findOrganization(place, token);
      const stored = await file.read().catch(() => undefined);
      const isSame = stored && new URL(stored.credentials.apiUrl).origin === new URL(serviceUrl).origin;
      const publicKey = isSame ? stored.credentials.publicKey : undefined;
      await file.write({
        apiUrl: serviceUrl,
        token,
        ...(organization === undefined ? {} : { organization }),
        ...(publicKey === undefined ? {} : { publicKey }),
      });
      const where = organization ?? organizations[0]?.name;
      const method = options.apiKey ? "key" : "browser";
      const member = where === undefined ? "" : ` as a member of ${where}`;
      answer(
        context,
        { apiUrl: serviceUrl, organization: where, method, file: file.path },
        `${context.ui.style("green", "Signed in")} to ${serviceUrl}${member}.\n` +
          `The credentials are in ${file.path}, which only you can read.`,
      );
      return exitCodes.ok;
    },
  );
}

/** The service to sign in to, and how. */
interface Place {
  serviceUrl: string;
  fetch: typeof fetch;
  options: Options;
  context: CommandContext;
}

async function askInBrowser({ serviceUrl, fetch, options, context }: Place): Promise<string> {
  const { ui, isJson, signal } = context;
  const flow = { serviceUrl, fetch, signal };
  const code = await explained({ apiUrl: serviceUrl }, requestDeviceCode(flow));
  const url = code.verification_uri_complete;
  const shownCode = code.user_code.replace(/^(.{4})(.{4})$/, "$1-$2");
  ui.print(
    isJson
      ? JSON.stringify({ event: "confirm-in-browser", url, code: code.user_code })
      : `To sign in, open ${ui.style("bold", url)}\nand check that it shows the code ${ui.style("bold", shownCode)}.`,
  );
  if (options.browser && ui.isTerminal) openBrowser(url);
  return ui.task("Waiting for confirmation in the browser", () =>
    explained({ apiUrl: serviceUrl }, waitForToken(flow, code)),
  );
}

/** Also checks that the token works. */
async function findOrganization(
  { serviceUrl, fetch, options, context }: Place,
  token: string,
): Promise<{ organization: string | undefined; organizations: { name: string }[] }> {
  const api = createApiClient({ baseUrl: toBaseUrl(serviceUrl), token, fetch });
  const { organizations } = await explained({ apiUrl: serviceUrl }, api.organizations());
  const names = organizations.map(({ name }) => name);
  const wanted = options.organization;
  if (wanted !== undefined && !names.includes(wanted))
    throw usageProblem(
      `You do not belong to an organisation '${wanted}'.`,
      `Yours: ${names.join(", ") || "none"}`,
    );
  if (options.apiKey) return { organization: undefined, organizations };
  const isClear = wanted !== undefined || names.length < 2 || context.isYes || !context.ui.isTerminal;
  const organization = isClear
    ? (wanted ?? names[0])
    : await choose(context, { message: "Which organisation?", flag: "--organization", options: names });
  return { organization, organizations };
}

/** Signing in again repairs a damaged file. */
function ifDamaged(error: unknown): undefined {
  if (error instanceof Problem && error.code === "credentials_invalid") return undefined;
  throw error;
}

function parseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && !url.username) return text;
  throw usageProblem(`"${text}" is not the address of a service.`, "For example: https://voice.example.com.");
}

/** Reads the key from standard input or a prompt: other users of the machine could see it on the command line. */
async function readKey(context: CommandContext): Promise<string> {
  const key = process.stdin.isTTY
    ? await askFor(context, { message: "Private key", flag: "standard input", isSecret: true })
    : await readAll(process.stdin);
  const trimmed = key.trim();
  if (trimmed.startsWith("pk_"))
    throw new Problem("public_key_given", "That is a public key, which cannot manage agents", {
      fixes: ["Private keys begin with sk_. Create one in the dashboard under Settings > API Keys."],
    });
  if (!/^sk_\S+$/.test(trimmed))
    throw usageProblem(
      "That is not a private key.",
      "Private keys begin with sk_. Pipe one in: vocalhost auth login --api-key < key.txt",
    );
  return trimmed;
}

const TELL_MS = 10_000;

/** `vocalhost auth logout` */
export async function logout(_options: object, context: CommandContext): Promise<number> {
  const variables = readServiceVariables();
  const file = credentialsFile(variables.configFolder);
  const stored = await file.read().catch(() => undefined); // a damaged file goes as well
  if (stored && !isKey(stored.credentials.token))
    await endSession(stored.credentials).catch(() =>
      context.ui.note("The service could not be reached; your sign-in there will expire on its own."),
    );
  const wasThere = await file.remove();
  if (variables.apiKey !== undefined) context.ui.note("VOCALHOST_API_KEY is still set and will be used.");
  const text = wasThere ? `Signed out. Removed ${file.path}.` : "You were not signed in.";
  answer(context, { wasSignedIn: wasThere }, text);
  return exitCodes.ok;
}

async function endSession({ apiUrl, token }: { apiUrl: string; token: string }): Promise<void> {
  const response = await fetch(`${toServiceUrl(apiUrl)}/auth/logout`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ refresh_token: token }),
    signal: AbortSignal.timeout(TELL_MS),
  });
  if (!response.ok) throw new Error(`The service answered ${response.status}`);
}

/** `vocalhost auth whoami` */
export const whoami = onService<ServiceOptions>(
  async ({ api, apiUrl, credentials, organization }, _options, context) => {
    const [{ user }, { organizations }] = await Promise.all([api.user(), api.organizations()]);
    const email = user.emails[0]?.emailAddress;
    const active = organizations.find(({ name }) => name === organization) ?? organizations[0];
    const method = isKey(credentials.token ?? "") ? "private key" : "browser";
    const from = credentials.source === "environment" ? "VOCALHOST_API_KEY" : "the credentials file";
    answer(
      context,
      {
        service: toServiceUrl(apiUrl),
        userId: user.userId,
        email,
        organization: active,
        organizations,
        method,
        source: credentials.source,
      },
      toFacts(context.ui, [
        ["You", email ?? user.userId],
        [
          "Organisation",
          active
            ? `${active.verboseName} (${active.name}${active.role === undefined ? "" : `, ${active.role}`})`
            : "none",
        ],
        ["Service", toServiceUrl(apiUrl)],
        ["By", `${method}, from ${from}`],
      ]),
    );
    return exitCodes.ok;
  },
);
