import type { OrganizationId } from "../auth/principal.ts";
import { BuildFacts } from "../builds/build-facts.ts";
import type { BuildRow } from "../store/schema.ts";
import type { Db, Store } from "../store/store.ts";
import { baseVersionOf, FILTER_BASE_VERSION, hasFilter } from "./base-version.ts";
import { badField, badRequest, type DeployContext } from "./deploy-context.ts";
import type { DeploymentSpec } from "./deployment-spec.ts";
import { isInternalRegistry, registryOf } from "./image-registry.ts";
import type { Settings, Source } from "./settings.ts";

export type ResolvedSource = { ok: true; buildId: string } | { ok: false; code: string; message: string };

/** What a driver that runs builds can run of a deployment. */
export async function resolveSource(
  store: Pick<Store, "db">,
  organizationId: OrganizationId,
  spec: Pick<DeploymentSpec, "image" | "buildId">,
): Promise<ResolvedSource> {
  const build = await findBuild(store.db, organizationId, spec);
  if (build?.status === "success") return { ok: true, buildId: build.id };
  const what = build
    ? `The build of image '${spec.image}' is ${build.status}`
    : `There is no build with the image '${spec.image}'`;
  return {
    ok: false,
    code: "IMAGE_NOT_FOUND",
    message: `${what}. This service runs builds; deploy the bot's folder instead.`,
  };
}

/** Checks what a caller named; undefined if it named nothing. */
export async function readSource(
  db: Db,
  organizationId: OrganizationId,
  options: { wish: { image?: string | null; buildId?: string | null }; region: string } & Pick<
    DeployContext,
    "registries"
  >,
): Promise<Source> {
  const { wish, region, registries } = options;
  if (wish.image !== null && wish.image !== undefined) {
    const registry = registryOf(wish.image);
    if (registry !== undefined && isInternalRegistry(registry) && !registries.includes(registry))
      throw badField("image", `Images of the registry '${registry}' are not allowed`);
    return { image: wish.image, buildId: null };
  }
  if (wish.buildId === null || wish.buildId === undefined) return undefined;
  const build = await findBuild(db, organizationId, { image: "", buildId: wish.buildId });
  if (!build) throw badRequest("Build not found");
  if (build.region !== region)
    throw badRequest(
      `Build is in region '${build.region}' but service is in region '${region}'. Builds must be in the same region as the service.`,
    );
  if (build.status !== "success" || build.imageUri === null)
    throw badRequest(`Build is not ready (status: ${build.status}). Only successful builds can be deployed.`);
  return { image: build.imageUri, buildId: build.id };
}

/** The filter comes with the base image, which must be new enough, and with nothing else. */
export async function requireFilterBase(
  db: Db,
  organizationId: OrganizationId,
  settings: Pick<Settings, "image" | "buildId" | "audioFilter">,
): Promise<void> {
  if (settings.audioFilter === null) return;
  const build = await findBuild(db, organizationId, settings);
  const facts = build ? BuildFacts.safeParse(JSON.parse(build.facts)).data : undefined;
  const version = facts?.baseVersion ?? baseVersionOf(settings.image);
  if (version !== undefined && !hasFilter(version))
    throw badField(
      "vendorViva.audioFilter",
      `The voice filter needs the base image vocalhost/base:${FILTER_BASE_VERSION} or later; this bot is built on ${version}`,
    );
  const packages = facts?.filterPackages ?? [];
  if (packages.length > 0)
    throw badField(
      "vendorViva.audioFilter",
      `The base image brings the voice filter. Remove ${packages.join(", ")} from the bot's dependency files and build again`,
    );
}

async function findBuild(
  db: Db,
  organizationId: OrganizationId,
  { image, buildId }: { image: string; buildId: string | null },
): Promise<BuildRow | undefined> {
  const builds = db.selectFrom("builds").selectAll().where("organizationId", "=", organizationId);
  if (buildId !== null) return builds.where("id", "=", buildId).executeTakeFirst();
  return builds.where("imageUri", "=", image).orderBy("createdAt", "desc").executeTakeFirst();
}
