import type { Store } from "@vocalhost/store/store";
import { namedByDeployments } from "./needed-builds.ts";

/** Removes all other images from the machines that run instances; returns how many. */
export type KeepImages = (needed: ReadonlySet<string>) => Promise<number>;

/** Removes images that no existing build or deployment needs. */
export async function pruneImages(
  store: Pick<Store, "db" | "search">,
  { nowMs, keepOnly }: { nowMs: number; keepOnly: KeepImages },
): Promise<number> {
  const builds = await store.db.selectFrom("builds").select("imageUri").execute();
  const { images } = await namedByDeployments(store, nowMs);
  for (const { imageUri } of builds) if (imageUri !== null) images.add(`localhost/${imageUri}`);
  return keepOnly(images);
}
