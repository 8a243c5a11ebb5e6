import type { OrganizationId } from "../../identity/principal.ts";
import { BuildFacts } from "../../builds/build-facts.ts";
import type { SourceKind } from "@vocalhost/drivers/driver";
import type { Store } from "@vocalhost/store/store";
import type { DeploymentSpec } from "./deployment-spec.ts";
import { findBuild } from "./find-build.ts";

export type ResolvedSource =
  | { ok: true; kind: "build"; buildId: string }
  | {
      ok: true;
      kind: "image";
      reference: string;
      /** The service built it, so it needs no pull secret of the organisation. */
      isBuilt: boolean;
    }
  | { ok: false; code: string; message: string };

/** Returns the deployment's source in a form that a driver with these kinds can run. */
export async function resolveSource(
  { store, runs }: { store: Pick<Store, "db">; runs: readonly SourceKind[] },
  organizationId: OrganizationId,
  spec: Pick<DeploymentSpec, "image" | "buildId">,
): Promise<ResolvedSource> {
  const build = await findBuild(store.db, organizationId, spec);
  const made =
    build?.status === "success" ? BuildFacts.safeParse(JSON.parse(build.facts)).data?.image : undefined;
  if (made && runs.includes("image"))
    return { ok: true, kind: "image", reference: made.reference, isBuilt: true };
  if (build?.status === "success" && !made && runs.includes("build"))
    return { ok: true, kind: "build", buildId: build.id };
  if (!build && spec.buildId === null && runs.includes("image"))
    return { ok: true, kind: "image", reference: spec.image, isBuilt: false };
  const what = !build
    ? `There is no build with the image '${spec.image}'`
    : build.status === "success"
      ? `'${spec.image}' was built for another driver`
      : `The build of image '${spec.image}' is ${build.status}`;
  const advice =
    build?.status === "success"
      ? "Deploy the bot's folder again."
      : runs.includes("build")
        ? "This service runs builds; deploy the bot's folder instead."
        : "Deploy the bot's folder, or the name of an image in a registry.";
  return { ok: false, code: "IMAGE_NOT_FOUND", message: `${what}. ${advice}` };
}
