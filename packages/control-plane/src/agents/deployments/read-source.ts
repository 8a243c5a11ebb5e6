import type { OrganizationId } from "../../identity/principal.ts";
import { BuildFacts } from "../../builds/build-facts.ts";
import { filterPackageProblem } from "../../builds/find-facts.ts";
import { SourceError } from "@vocalhost/drivers/driver";
import { badField, badRequest } from "@vocalhost/base/refusals";
import type { Db } from "@vocalhost/store/store";
import { baseVersionOf, FILTER_BASE_VERSION, hasFilter } from "./base-version.ts";
import type { DeploymentSpec } from "./deployment-spec.ts";
import { findBuild } from "./find-build.ts";
import { isInternalRegistry, registryOf } from "@vocalhost/drivers/image-registry";

/** The source of the bot; undefined keeps the current one. */
export type Source = { image: string; buildId: string | null } | undefined;

/** Validates the source a caller named; returns undefined if it named none. */
export async function readSource(
  db: Db,
  organizationId: OrganizationId,
  options: {
    input: { image?: string | null; buildId?: string | null };
    region: string;
    /** Internal registries that are allowed as sources of images. */
    registries: readonly string[];
  },
): Promise<Source> {
  const { input, region, registries } = options;
  if (input.image !== null && input.image !== undefined) {
    const registry = registryOf(input.image);
    if (registry !== undefined && isInternalRegistry(registry) && !registries.includes(registry))
      throw badField("image", `Images of the registry '${registry}' are not allowed`);
    return { image: input.image, buildId: null };
  }
  if (input.buildId === null || input.buildId === undefined) return undefined;
  const build = await findBuild(db, organizationId, { image: "", buildId: input.buildId });
  if (!build) throw badRequest("Build not found");
  if (build.region !== region)
    throw badRequest(
      `Build is in region '${build.region}' but service is in region '${region}'. Builds must be in the same region as the service.`,
    );
  if (build.status !== "success" || build.imageUri === null)
    throw badRequest(`Build is not ready (status: ${build.status}). Only successful builds can be deployed.`);
  return { image: build.imageUri, buildId: build.id };
}

/** The filter needs a base image that is new enough; other images do not have it. */
export async function requireFilterBase(
  db: Db,
  organizationId: OrganizationId,
  settings: Pick<DeploymentSpec, "image" | "buildId" | "audioFilter">,
): Promise<void> {
  if (settings.audioFilter === null) return;
  const build = await findBuild(db, organizationId, settings);
  const facts = build ? BuildFacts.safeParse(JSON.parse(build.facts)).data : undefined;
  const version = facts?.baseVersion ?? baseVersionOf(settings.image);
  if (version !== undefined && !hasFilter(version))
    throw badField("vendorViva.audioFilter", filterProblem(version));
  const packages = facts?.filterPackages ?? [];
  if (packages.length > 0) throw badField("vendorViva.audioFilter", filterPackageProblem(packages));
}

/** Does the same for a resolved image: only then is its base known. */
export function requireFilterIn(
  baseVersion: string | undefined,
  { audioFilter }: Pick<DeploymentSpec, "audioFilter">,
): void {
  if (audioFilter === null || (baseVersion !== undefined && hasFilter(baseVersion))) return;
  throw new SourceError("UNKNOWN_ERROR", filterProblem(baseVersion));
}

function filterProblem(baseVersion: string | undefined): string {
  const built = baseVersion === undefined ? "is not built on it" : `is built on ${baseVersion}`;
  return `The voice filter needs the base image vocalhost/base:${FILTER_BASE_VERSION} or later; this bot ${built}`;
}
