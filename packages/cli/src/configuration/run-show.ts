import { stringify } from "smol-toml";
import { readServiceVariables } from "../config.ts";
import type { CommandContext } from "../define-command.ts";
import { exitCodes } from "../problem.ts";
import { askProgram } from "../operate/operations.ts";
import type { OperateOptions } from "../operate/operate-options.ts";
import { readProject } from "../project/read-project.ts";
import { answer, toFacts } from "../results.ts";
import { toServiceUrl } from "../service/explain.ts";
import { isKey, readCredentials } from "../service/open-service.ts";

interface Options extends OperateOptions {
  configFile: string | undefined;
  service: boolean | undefined;
}

interface ServiceSettings {
  settings: { name: string; value: string | null; from: string; isSecret: boolean; help: string }[];
  /** The problem that would prevent a start. */
  problem: string | null;
  unknown: { variable: string; meant?: string }[];
}

/** `vocalhost config show` */
export async function run(options: Options, context: CommandContext): Promise<number> {
  if (options.service) return showService(options, context);
  const { ui } = context;
  const variables = readServiceVariables();
  const { file, credentials } = await readCredentials();
  const project = await readProject(process.cwd(), options.configFile);
  const { token, source } = credentials;
  const from = source === "environment" ? "VOCALHOST_API_KEY" : file.path;
  const kind = token === undefined ? "none" : isKey(token) ? "private key" : "signed in";
  const addressFrom =
    variables.apiUrl === undefined ? (source === "file" ? file.path : "default") : "VOCALHOST_API_URL";
  const shown = {
    service: toServiceUrl(credentials.apiUrl),
    serviceFrom: addressFrom,
    credential: token === undefined ? null : masked(token),
    credentialFrom: token === undefined ? null : from,
    organization: credentials.organization ?? null,
    publicKey: credentials.publicKey === undefined ? null : masked(credentials.publicKey),
    credentialsFile: file.path,
    projectFile: project.path ?? null,
    project: project.config,
  };
  const facts = toFacts(ui, [
    ["Service", `${shown.service} (${addressFrom})`],
    ["Credential", token === undefined ? "none; vocalhost auth login" : `${masked(token)} ${kind} (${from})`],
    ["Organisation", credentials.organization ?? "that of the credential"],
    ["Public key", shown.publicKey ?? "none; vocalhost keys create --default"],
    ["Credentials file", file.path],
    ["Project file", project.path ?? "none in this folder"],
  ]);
  const toml = Object.keys(project.config).length === 0 ? "" : `\n\n${stringify(project.config).trimEnd()}`;
  answer(context, shown, facts + toml);
  return exitCodes.ok;
}

async function showService(options: OperateOptions, context: CommandContext): Promise<number> {
  const { ui, signal } = context;
  const { settings, problem, unknown } = await askProgram<ServiceSettings>(
    { words: ["settings"], options },
    { signal },
  );
  const facts = settings.map(({ name, value, from, isSecret }) => {
    if (from === "default")
      return [name, { text: value ? `${value} (default)` : "none", style: "dim" }] as const;
    return [name, `${isSecret ? "hidden" : value} (${from})`] as const;
  });
  const warnings = unknown.map(
    ({ variable, meant }) =>
      `${variable} is no setting${meant === undefined ? "" : `; did you mean ${meant}?`}`,
  );
  const below = [...(problem === null ? [] : [ui.style("red", problem)]), ...warnings].map(
    (text) => `\n\n${text}`,
  );
  answer(context, { settings, problem, unknown }, toFacts(ui, facts) + below.join(""));
  return problem === null ? exitCodes.ok : exitCodes.failed;
}

const SHOWN_CHARACTERS = 8;

/** The beginning, which says what it is; nothing of a short one. */
function masked(secret: string): string {
  return secret.length < 2 * SHOWN_CHARACTERS ? "****" : `${secret.slice(0, SHOWN_CHARACTERS)}****`;
}
