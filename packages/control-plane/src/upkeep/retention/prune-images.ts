import type { Store } from "@vocalhost/store/store";
import { namedByDeployments } from "./needed-builds.ts";

/** Removes images that are none of these from where instances are made; answers how many. */
export type KeepImages = (needed: ReadonlySet<string>) => Promise<number>;

/** Images that no build and no deployment that can still be run is made of. */
export async function pruneImages(
  store: Pick<Store, "db" | "search">,
  { nowMs, keepOnly }: { nowMs: number; keepOnly: KeepImages },
): Promise<number> {
  const builds = await store.db.selectFrom("builds").select("imageUri").execute();
  const { images } = await namedByDeployments(store, nowMs);
  for (const { imageUri } of builds) if (imageUri !== null) images.add(`localhost/${imageUri}`);
  return keepOnly(images);
}
