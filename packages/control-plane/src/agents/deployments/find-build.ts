import type { OrganizationId } from "../../identity/principal.ts";
import type { BuildRow } from "@vocalhost/store/schema";
import type { Db } from "@vocalhost/store/store";

/** Finds a deployment's build by id or by its image-shaped name. */
export async function findBuild(
  db: Db,
  organizationId: OrganizationId,
  { image, buildId }: { image: string; buildId: string | null },
): Promise<BuildRow | undefined> {
  const builds = db.selectFrom("builds").selectAll().where("organizationId", "=", organizationId);
  if (buildId !== null) return builds.where("id", "=", buildId).executeTakeFirst();
  return builds.where("imageUri", "=", image).orderBy("createdAt", "desc").executeTakeFirst();
}
