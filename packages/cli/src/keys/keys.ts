import type { Key } from "@vocalhost/protocol";
import { readServiceVariables } from "../config.ts";
import { credentialsFile } from "../credentials/credentials-file.ts";
import { exitCodes, Problem, usageProblem } from "../problem.ts";
import { askFor, confirm } from "../questions.ts";
import { answer, shownTime, toFacts, toTable, type Cell } from "../results.ts";
import { explained } from "../service/explain.ts";
import { findId, shortId } from "../service/find.ts";
import { onService, type Service } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";

interface CreateOptions extends ServiceOptions {
  name: string | undefined;
  type: "public" | "private";
  agent: string[];
  ratePerMinute: number | undefined;
  concurrency: number | undefined;
  expires: string | undefined;
  default: boolean | undefined;
}

/** `vocalhost keys create` */
export const create = onService<CreateOptions>(async (service, options, context) => {
  const { type } = options;
  if (options.default && type === "private")
    throw usageProblem(
      "Only a public key can be the default one for starting sessions.",
      "Omit --type or --default.",
    );
  if (options.default && service.credentials.source !== "file")
    throw usageProblem(
      "--default keeps the key beside your credentials, but you use VOCALHOST_API_KEY.",
      "Sign in first: vocalhost auth login --api-key",
    );
  const name =
    options.name ??
    (options.default ? "vocalhost" : await askFor(context, { message: "Name of the key", flag: "--name" }));
  const expiresAt = expiryOf(options.expires);
  const made = await explained(
    service,
    service.api.keys.create({
      name,
      type,
      ...(options.agent.length === 0 ? {} : { agents: options.agent }),
      ...(options.ratePerMinute === undefined ? {} : { ratePerMinute: options.ratePerMinute }),
      ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    }),
  );
  if (options.default) await keep(service, made.key);
  const use =
    type === "public" ? "starts sessions; may appear in web pages" : "manages agents; keep it on servers";
  answer(
    context,
    { ...made, name, type, isDefault: options.default === true },
    toFacts(context.ui, [
      ["Key", { text: made.key, style: "bold" }],
      ["Id", made.id],
      ["Kind", `${type}: ${use}`],
      [
        "Note",
        options.default
          ? "vocalhost agent start uses it from now on"
          : type === "public"
            ? "vocalhost keys list --json shows it again"
            : "this is the only time it is shown",
      ],
    ]),
  );
  return exitCodes.ok;
});

async function keep({ credentials }: Service, publicKey: string): Promise<void> {
  const file = credentialsFile(readServiceVariables().configFolder);
  const stored = await file.read();
  if (!stored) throw new Problem("not_signed_in", `The credentials for ${credentials.apiUrl} are gone`);
  await file.write({ ...stored.credentials, publicKey });
}

function expiryOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) throw usageProblem(`"${text}" is not a date.`, "For example: 2027-01-31.");
  return at.toISOString();
}

interface ListOptions extends ServiceOptions {
  all: boolean | undefined;
}

/** `vocalhost keys list` */
export const list = onService<ListOptions>(async ({ api }, { all }, context) => {
  const keys = await api.keys.list();
  const shown = (list: Key[]): Key[] => list.filter(({ revoked }) => all || !revoked);
  const rows = [
    ...shown(keys.public).map((key) => rowOf("public", key)),
    ...shown(keys.private).map((key) => rowOf("private", key)),
  ];
  const columns = ["Id", "Kind", "Name", "Key", "Agents", "Last used", "State"];
  const text =
    rows.length === 0
      ? "No keys. Create one with: vocalhost keys create"
      : toTable(context.ui, columns, rows);
  answer(context, { public: shown(keys.public), private: shown(keys.private) }, text);
  return 0;
});

function rowOf(kind: string, key: Key): Cell[] {
  const state = key.revoked
    ? "revoked"
    : key.expiresAt === null
      ? "valid"
      : `until ${shownTime(key.expiresAt)}`;
  return [
    shortId(key.id),
    kind,
    { text: key.metadata.name, style: "bold" },
    maskedKey(key.key),
    key.agents?.join(", ") ?? "all",
    shownTime(key.lastUsedAt),
    { text: state, style: key.revoked ? "red" : "green" },
  ];
}

interface RevokeOptions extends ServiceOptions {
  id: string;
}

/** `vocalhost keys revoke` */
export const revoke = onService<RevokeOptions>(async (service, options, context) => {
  const listed = await service.api.keys.list();
  const keys = [...listed.public, ...listed.private];
  const id = await findId(options.id, {
    what: "key",
    listedBy: "vocalhost keys list",
    known: async () => keys.map((each) => each.id),
  });
  const key = keys.find((each) => each.id === id);
  const named = key ? `'${key.metadata.name}' (${maskedKey(key.key)})` : id;
  const question = `Revoke the key ${named}? Requests with it will be refused.`;
  if (!(await confirm(context, question, { isDestructive: true }))) {
    context.ui.note("Nothing was revoked.");
    return exitCodes.failed;
  }
  await explained(service, service.api.keys.revoke(id), {
    subject: `the key ${id}`,
    missing: ["See which exist: vocalhost keys list"],
  });
  answer(context, { id }, `Revoked the key ${named}.`);
  return exitCodes.ok;
});

/** Shortens a key for tables; the rest still tells it from others. */
function maskedKey(key: string): string {
  return key.includes("…") ? key : `${key.slice(0, 3)}…${key.slice(-4)}`;
}
