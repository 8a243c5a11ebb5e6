import { answer } from "../answer.ts";
import { exitCodes } from "../problem.ts";
import { confirm } from "../questions.ts";
import { isMissing } from "../service/explain.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { whereItStands } from "../service/where-it-stands.ts";
import { aboutSet, checkSetName } from "./about-set.ts";
import { readPairs } from "./read-pairs.ts";
import { waitUntilStored } from "./wait-until-stored.ts";

interface Options extends ServiceOptions {
  set: string;
  pairs: string[];
  file: string | undefined;
  region: string | undefined;
}

/** `vocalhost secrets set` */
export const run = onService<Options>(async (service, options, context) => {
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
