import { AppError } from "@vocalhost/protocol";
import type { OrganizationId } from "../../identity/principal.ts";
import { badRequest, notFound } from "@vocalhost/base/refusals";
import type { SecretSetRow } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";
import type { DeploymentSpec } from "./deployment-spec.ts";

/** Pins an agent's secrets to the current version of its set. */
export async function bindSecrets(
  tx: Tx,
  organizationId: OrganizationId,
  {
    settings,
    region,
    isNew,
  }: { settings: Omit<DeploymentSpec, "secretVersion">; region: string; isNew: boolean },
): Promise<DeploymentSpec> {
  const find = (name: string, kind: SecretSetRow["kind"]) =>
    requireSet(tx, organizationId, { name, kind, region, isNew });
  const secrets = settings.secretSet === null ? undefined : await find(settings.secretSet, "secret");
  if (settings.imagePullSecretSet !== null) await find(settings.imagePullSecretSet, "imagePullSecret");
  return { ...settings, secretVersion: secrets?.currentVersion ?? null };
}

interface WantedSet {
  name: string;
  kind: SecretSetRow["kind"];
  region: string;
  isNew: boolean;
}

async function requireSet(tx: Tx, organizationId: OrganizationId, wanted: WantedSet): Promise<SecretSetRow> {
  const set = await tx
    .selectFrom("secretSets")
    .selectAll()
    .where("organizationId", "=", organizationId)
    .where("name", "=", wanted.name)
    .executeTakeFirst();
  if (!set || set.kind !== wanted.kind) throw notFound("Secret set not found");
  if (set.region !== wanted.region) throw badRequest(regionMessage(wanted, set.region));
  if (set.status !== "ready")
    throw new AppError("CONFLICT", {
      message: `Secret set '${wanted.name}' is not yet ready. Retry once it has been provisioned.`,
    });
  return set;
}

function regionMessage({ name, kind, region, isNew }: WantedSet, setRegion: string): string {
  const [what, plural] =
    kind === "secret" ? ["Secret set", "Secrets"] : ["Image pull secret set", "Image pull secrets"];
  const will = isNew ? "will be created" : "is";
  return `${what} '${name}' is in region '${setRegion}' but service ${will} in region '${region}'. ${plural} must be in the same region as the service.`;
}
