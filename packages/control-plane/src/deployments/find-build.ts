import type { OrganizationId } from "../auth/principal.ts";
import type { BuildRow } from "../store/schema.ts";
import type { Db } from "../store/store.ts";

/** The build a deployment names: by its id, or by the image-shaped name it got. */
export async function findBuild(
  db: Db,
  organizationId: OrganizationId,
  { image, buildId }: { image: string; buildId: string | null },
): Promise<BuildRow | undefined> {
  const builds = db.selectFrom("builds").selectAll().where("organizationId", "=", organizationId);
  if (buildId !== null) return builds.where("id", "=", buildId).executeTakeFirst();
  return builds.where("imageUri", "=", image).orderBy("createdAt", "desc").executeTakeFirst();
}
