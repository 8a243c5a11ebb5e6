import { parseSpec } from "../../agents/deployments/deployment-spec.ts";
import type { Store } from "@vocalhost/store/store";
import { keptAgents } from "./kept-agents.ts";

/** After an agent is deleted, a deployment in creation has this long to name the same build. */
const RELEASED_AFTER_MS = 10 * 60_000;

export interface NamedByDeployments {
  /** Ids of builds and names of images that deployments run or can be rolled back to. */
  builds: Set<string>;
  /** References of the images these deployments pinned. */
  images: Set<string>;
  /** Named by deployments of deleted agents. If no other deployment names them, no request can need them any more. */
  released: Set<string>;
}

export function releasedBeforeMs(nowMs: number): number {
  return nowMs - RELEASED_AFTER_MS;
}

/** Returns the builds and images that existing deployments name. */
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

const AT_ONCE = 500; // small, because calls need the store between two reads

async function* allDeployments({ search }: SearchedStore, nowMs: number) {
  const some = search.selectFrom("deployments").select(["id", "agentId", "spec"]);
  for (let after = ""; ;) {
    const rows = await some.where("id", ">", after).orderBy("id").limit(AT_ONCE).execute();
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < AT_ONCE) break;
    after = last.id;
  }
  // Reads again the rows created during the scan, which may sort before its position.
  yield* await some.where("createdAt", ">=", releasedBeforeMs(nowMs)).execute();
}
