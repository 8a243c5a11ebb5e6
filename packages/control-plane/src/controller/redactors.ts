import type { OrganizationId } from "../auth/principal.ts";
import type { DeployingOptions } from "../deployments/deploying.ts";
import { parseSpec } from "../deployments/deployment-spec.ts";
import type { Log } from "../log.ts";
import { createRedactor, type Redactor } from "../secrets/redact.ts";
import type { Store } from "../store/store.ts";

/** What hides the values of a deployment's secrets. */
export type RedactorOf = (deploymentId: string) => Promise<Redactor>;

const REDACTORS_MAX = 1_000;
const SEARCHED_CHARACTERS_MAX = 4 * 1024 * 1024; // of all of them together; each costs some dozen bytes

/** Kept per deployment: the secrets of one never change. */
export function createRedactors({
  store,
  log,
  secretsOf,
}: {
  store: Store;
  log: Log;
  secretsOf: DeployingOptions["secretsOf"];
}): RedactorOf {
  const redactors = new Map<string, Promise<Redactor>>();
  const tooLarge = new Set<string>(); // that were named in the log
  let characters = 0;

  async function make(deploymentId: string): Promise<Redactor> {
    const row = await store.db
      .selectFrom("deployments")
      .select(["organizationId", "spec"])
      .where("id", "=", deploymentId)
      .executeTakeFirstOrThrow();
    const { secretSet, secretVersion } = parseSpec(row.spec);
    if (secretSet === null || secretVersion === null) return createRedactor([]);
    const secrets = await secretsOf(row.organizationId as OrganizationId, secretSet, secretVersion);
    const values = Object.values(secrets);
    characters += values.reduce((sum, { length }) => sum + length, 0);
    return createRedactor(values, (leftOut) => {
      const name = [row.organizationId, secretSet, secretVersion].join("|");
      if (tooLarge.has(name)) return;
      if (tooLarge.size >= REDACTORS_MAX) tooLarge.clear();
      tooLarge.add(name);
      log.warn(
        { organizationId: row.organizationId, secretSet, secretVersion, leftOut },
        "secret set is too large to be hidden whole, some of it may show in the output of bots",
      );
    });
  }

  return (deploymentId) => {
    const known = redactors.get(deploymentId);
    if (known) return known;
    if (redactors.size >= REDACTORS_MAX || characters > SEARCHED_CHARACTERS_MAX) {
      redactors.clear();
      characters = 0;
    }
    const made = make(deploymentId);
    redactors.set(deploymentId, made);
    made.catch(() => redactors.delete(deploymentId));
    return made;
  };
}

/** For what everybody may read: what cannot be hidden is not shown at all. */
export async function redactOrCut(
  redactorOf: RedactorOf,
  deploymentId: string,
  text: string,
): Promise<string> {
  const redact = await redactorOf(deploymentId).catch(() => undefined);
  return redact ? redact(text) : (text.split("\n", 1)[0] ?? "");
}
