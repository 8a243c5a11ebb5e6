import { SecretSetName } from "@vocalhost/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandContext } from "../define-command.ts";
import { exitCodes, Problem, usageProblem } from "../problem.ts";
import { askFor, confirm } from "../questions.ts";
import { answer, toTable } from "../results.ts";
import { explained, isMissing } from "../service/explain.ts";
import { onService, whereItStands, type Service } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import type { Style } from "../ui.ts";
import { readPairs } from "./read-pairs.ts";

interface ListOptions extends ServiceOptions {
  set: string | undefined;
  sets: boolean | undefined;
  region: string | undefined;
}

const STYLES: Record<string, Style> = { ready: "green", pending: "yellow", failed: "red" };

/** `vocalhost secrets list` */
export const list = onService<ListOptions>(async (service, options, context) => {
  const { api } = service;
  const { ui } = context;
  if (options.set !== undefined) {
    const set = await aboutSet(service, options.set, api.secrets.get(options.set));
    const rows = set.secrets.map(({ fieldName }) => [fieldName]);
    answer(
      context,
      { name: options.set, ...set },
      rows.length === 0 ? "The set is empty." : toTable(ui, ["Key"], rows),
    );
    return 0;
  }
  const { sets: all } = await api.secrets.list(
    options.region === undefined ? {} : { region: options.region },
  );
  const sets = options.sets ? all.filter(({ type }) => type === "secret") : all;
  const rows = sets.map(({ name, type, region, status, errorMessage }) => [
    { text: name, style: "bold" as const },
    type === "secret" ? "secrets" : "image pull",
    region,
    {
      text: errorMessage === undefined ? status : `${status}: ${errorMessage}`,
      style: STYLES[status] ?? ("dim" as const),
    },
  ]);
  const text =
    rows.length === 0
      ? "No secret sets yet. Create one with: vocalhost secrets set"
      : toTable(ui, ["Set", "Kind", "Region", "Status"], rows);
  answer(context, { sets }, text);
  return 0;
});

interface SetOptions extends ServiceOptions {
  set: string;
  pairs: string[];
  file: string | undefined;
  region: string | undefined;
}

/** `vocalhost secrets set` */
export const set = onService<SetOptions>(async (service, options, context) => {
  const { api } = service;
  checkSetName(options.set);
  const secrets = await readPairs(options.pairs, options.file);
  const existing = await api.secrets.get(options.set).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  const before = new Set(existing?.secrets.map(({ fieldName }) => fieldName));
  const keys = secrets.map(({ secretKey }) => secretKey);
  const replaced = keys.filter((key) => before.has(key));
  const added = keys.filter((key) => !before.has(key));
  for (const [verb, names] of [
    ["adds", added],
    ["replaces", replaced],
  ] as const)
    if (names.length > 0)
      context.ui.note(
        `${existing ? `'${options.set}'` : `The new set '${options.set}'`} ${verb} ${names.join(", ")}`,
      );
  if (
    replaced.length > 0 &&
    !(await confirm(context, `Replace ${replaced.join(", ")} in '${options.set}'?`, { isDestructive: true }))
  ) {
    context.ui.note("Nothing was changed.");
    return exitCodes.failed;
  }
  const region = options.region === undefined ? {} : { region: options.region };
  await aboutSet(service, options.set, api.secrets.put(options.set, { secrets, ...region }));
  return whereItStands(
    context,
    () => `The service has accepted the secrets. Check them with: vocalhost secrets list ${options.set}`,
    async () => {
      await waitUntilStored(service, options.set, context);
      answer(
        context,
        { set: options.set, added, replaced },
        `Stored ${keys.length === 1 ? "1 secret" : `${keys.length} secrets`} in '${options.set}'.\n` +
          (existing
            ? ""
            : `Give them to an agent: vocalhost deploy --secrets ${options.set}, or secret_set = "${options.set}" in vocalhost.toml.\n`) +
          "Instances read them when they start: vocalhost deploy --force rolls them out to running agents.",
      );
      return exitCodes.ok;
    },
  );
});

interface UnsetOptions extends ServiceOptions {
  set: string;
  key: string;
}

/** `vocalhost secrets unset` */
export const unset = onService<UnsetOptions>(async (service, { set, key }, context) => {
  if (!(await confirm(context, `Remove ${key} from '${set}'?`, { isDestructive: true }))) {
    context.ui.note("Nothing was changed.");
    return exitCodes.failed;
  }
  await explained(service, service.api.secrets.deleteKey(set, key), {
    subject: `the secret ${key} in a set '${set}'`,
    missing: [`See what it holds: vocalhost secrets list ${set}`],
  });
  answer(context, { set, key }, `Removed ${key} from '${set}'. Running instances keep it until they end.`);
  return exitCodes.ok;
});

interface DeleteOptions extends ServiceOptions {
  set: string;
}

/** `vocalhost secrets delete` */
export const remove = onService<DeleteOptions>(async (service, { set }, context) => {
  if (!(await confirm(context, `Delete the set '${set}' and everything in it?`, { isDestructive: true }))) {
    context.ui.note("Nothing was deleted.");
    return exitCodes.failed;
  }
  await aboutSet(service, set, service.api.secrets.delete(set));
  answer(context, { set }, `Deleted '${set}'.`);
  return exitCodes.ok;
});

interface LoginOptions extends ServiceOptions {
  set: string;
  host: string;
  login: string | undefined;
  region: string | undefined;
  encode: boolean;
}

/** `vocalhost secrets image-pull-secret` */
export const imagePullSecret = onService<LoginOptions>(async (service, options, context) => {
  const { set } = options;
  checkSetName(options.set);
  const host = /^https?:\/\//.test(options.host) ? options.host : `https://${options.host}`;
  const login = options.login ?? (await askForLogin());
  if (options.encode && !/^[^:]+:.+$/s.test(login))
    throw usageProblem("That is not a user name and token.", "Write user:token.");
  const secretValue = options.encode ? Buffer.from(login).toString("base64") : login;
  const region = options.region === undefined ? {} : { region: options.region };
  await aboutSet(
    service,
    set,
    service.api.secrets.put(set, { isImagePullSecret: true, host, secretValue, ...region }),
  );
  return whereItStands(
    context,
    () => "The service has accepted the login. Check it with: vocalhost secrets list",
    async () => {
      await waitUntilStored(service, set, context);
      answer(
        context,
        { set, host },
        `Stored the login for ${host} as '${set}'. Use it with: vocalhost deploy --credentials ${set}`,
      );
      return exitCodes.ok;
    },
  );

  async function askForLogin(): Promise<string> {
    const flag = "a third argument, user:token";
    const user = await askFor(context, { message: `User name at ${options.host}`, flag });
    const token = await askFor(context, { message: "Token or password", flag, isSecret: true });
    return `${user}:${token}`;
  }
});

/** With a sentence about a set that does not exist. */
function aboutSet<T>(service: Pick<Service, "apiUrl">, name: string, work: Promise<T>): Promise<T> {
  return explained(service, work, {
    subject: `the secret set '${name}'`,
    missing: ["See which exist: vocalhost secrets list"],
  });
}

function checkSetName(name: string): void {
  if (SecretSetName.safeParse(name).success) return;
  throw usageProblem(
    `"${name}" cannot be the name of a secret set.`,
    "Use 3 to 63 of a-z, 0-9 and inner hyphens and dots.",
  );
}

const WAIT_MS = 20_000;
const LOOK_AGAIN_MS = 200;

/** The service takes a set first and stores it then; a deployment needs it stored. */
async function waitUntilStored(
  { api }: Service,
  name: string,
  { ui, signal }: CommandContext,
): Promise<void> {
  const startMs = performance.now();
  await ui.task(`Storing '${name}'`, async () => {
    for (;;) {
      const set = (await api.secrets.list()).sets.find((each) => each.name === name);
      if (set?.status === "ready") return;
      if (set?.status === "failed")
        throw new Problem("secrets_failed", `The set '${name}' could not be stored`, {
          why: set.errorMessage,
        });
      if (performance.now() - startMs > WAIT_MS)
        throw new Problem("secrets_pending", `The set '${name}' is not stored yet`, {
          why: "The service has accepted it and is still working on it.",
          fixes: ["Check again with: vocalhost secrets list"],
        });
      await sleep(LOOK_AGAIN_MS, undefined, { signal });
    }
  });
}
