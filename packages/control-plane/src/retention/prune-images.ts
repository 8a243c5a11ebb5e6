import { parseSpec } from "../deployments/deployment-spec.ts";
import type { Store } from "../store/store.ts";

/** Removes images that are none of these from where instances are made; answers how many. */
export type KeepImages = (needed: ReadonlySet<string>) => Promise<number>;

/** Images that no build and no deployment that is still there is made of. */
export async function pruneImages({ db }: Pick<Store, "db">, keepOnly: KeepImages): Promise<number> {
  const builds = await db.selectFrom("builds").select("imageUri").execute();
  const deployments = await db.selectFrom("deployments").select("spec").execute();
  const needed = new Set(
    builds.flatMap(({ imageUri }) => (imageUri === null ? [] : [`localhost/${imageUri}`])),
  );
  for (const { spec } of deployments) {
    const { pinned } = parseSpec(spec);
    if (pinned) needed.add(pinned.reference);
  }
  return keepOnly(needed);
}
