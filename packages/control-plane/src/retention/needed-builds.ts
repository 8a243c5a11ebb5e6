import { parseSpec } from "../deployments/deployment-spec.ts";
import type { Db } from "../store/store.ts";
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
export async function namedByDeployments(db: Db, nowMs: number): Promise<NamedByDeployments> {
  const kept = await keptAgents(db, releasedBeforeMs(nowMs)).execute();
  const keptIds = new Set(kept.map(({ id }) => id));
  const rows = await db.selectFrom("deployments").select(["agentId", "spec"]).execute();
  const builds = new Set<string>();
  const images = new Set<string>();
  const ofDeleted = new Set<string>();
  for (const { agentId, spec } of rows) {
    const { buildId, image, pinned } = parseSpec(spec);
    const isKept = keptIds.has(agentId);
    for (const name of [image, buildId]) if (name !== null) (isKept ? builds : ofDeleted).add(name);
    if (isKept && pinned) images.add(pinned.reference);
  }
  return { builds, images, released: ofDeleted };
}
