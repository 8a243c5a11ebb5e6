import type { OrganizationId } from "../auth/principal.ts";
import type { SourceKind } from "../drivers/driver.ts";
import type { Store } from "../store/store.ts";
import type { DeploymentSpec } from "./deployment-spec.ts";
import { findBuild } from "./find-build.ts";

export type ResolvedSource =
  | { ok: true; kind: "build"; buildId: string }
  | { ok: true; kind: "image"; reference: string }
  | { ok: false; code: string; message: string };

/** What of a deployment a driver that runs these kinds of source can run. */
export async function resolveSource(
  { store, runs }: { store: Pick<Store, "db">; runs: readonly SourceKind[] },
  organizationId: OrganizationId,
  spec: Pick<DeploymentSpec, "image" | "buildId">,
): Promise<ResolvedSource> {
  const build = await findBuild(store.db, organizationId, spec);
  if (build?.status === "success" && runs.includes("build"))
    return { ok: true, kind: "build", buildId: build.id };
  if (!build && spec.buildId === null && runs.includes("image"))
    return { ok: true, kind: "image", reference: spec.image };
  const what = !build
    ? `There is no build with the image '${spec.image}'`
    : build.status === "success"
      ? `The image '${spec.image}' is a build`
      : `The build of image '${spec.image}' is ${build.status}`;
  const advice = runs.includes("build")
    ? "This service runs builds; deploy the bot's folder instead."
    : "This service runs images of registries; push the bot's image to one and deploy that.";
  return { ok: false, code: "IMAGE_NOT_FOUND", message: `${what}. ${advice}` };
}
