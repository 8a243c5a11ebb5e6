import { answer } from "../answer.ts";
import { exitCodes, Problem, usageProblem } from "../problem.ts";
import { readServiceVariables } from "../config.ts";
import { credentialsFile } from "../credentials/credentials-file.ts";
import { askFor } from "../questions.ts";
import { explained } from "../service/explain.ts";
import { onService } from "../service/on-service.ts";
import type { Service } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { toFacts } from "../table.ts";

interface Options extends ServiceOptions {
  name: string | undefined;
  type: "public" | "private";
  agent: string[];
  ratePerMinute: number | undefined;
  concurrency: number | undefined;
  expires: string | undefined;
  default: boolean | undefined;
}

/** `vocalhost keys create` */
export const run = onService<Options>(async (service, options, context) => {
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
