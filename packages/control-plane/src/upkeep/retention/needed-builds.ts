import { parseSpec } from "../../agents/deployments/deployment-spec.ts";
import type { Store } from "@vocalhost/store/store";
import { keptAgents } from "./kept-agents.ts";

/** After an agent is deleted: time for a deployment that was just being made of the same build to name it. */
const RELEASED_AFTER_MS = 10 * 60_000;

export interface NamedByDeployments {
  /** Deployments run them, or could be rolled back to them. Ids of builds, and names of images. */
  builds: Set<string>;
  /** References of the images that these deployments were pinned to. */
  images: Set<string>;
  /** Deployments of deleted agents name them. Those that no other names nothing can ask for any more. */
  released: Set<string>;
}

export function releasedBeforeMs(nowMs: number): number {
  return nowMs - RELEASED_AFTER_MS;
}

/** What deployments that are still there name. */
export async function namedByDeployments(store: SearchedStore, nowMs: number): Promise<NamedByDeployments> {
  const kept = await keptAgents(store.search, releasedBeforeMs(nowMs)).execute();
  const keptIds = new Set(kept.map(({ id }) => id));
  const named = { builds: new Set<string>(), images: new Set<string>(), released: new Set<string>() };
  for await (const { agentId, spec } of allDeployments(store, nowMs)) {
    const { buildId, image, pinned } = parseSpec(spec);
    const isKept = keptIds.has(agentId);
    for (const name of [image, buildId])
      if (name !== null) (isKept ? named.builds : named.released).add(name);
    if (isKept && pinned) named.images.add(pinned.reference);
  }
  return named;
}

type SearchedStore = Pick<Store, "search">;

const AT_ONCE = 500; // a script that deploys in a loop leaves hundreds of thousands, and calls go on beside this

async function* allDeployments({ search }: SearchedStore, nowMs: number) {
  const some = search.selectFrom("deployments").select(["id", "agentId", "spec"]);
  for (let after = ""; ;) {
    const rows = await some.where("id", ">", after).orderBy("id").limit(AT_ONCE).execute();
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < AT_ONCE) break;
    after = last.id;
  }
  // Those made while the others were read may have come too late for their places.
  yield* await some.where("createdAt", ">=", releasedBeforeMs(nowMs)).execute();
}
