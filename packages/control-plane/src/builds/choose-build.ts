import type { BuildRow } from "@vocalhost/store/schema";

export type QueuedBuild = Pick<BuildRow, "id" | "organizationId" | "status" | "createdAt">;

/** The current state of builds. */
export interface BuildsNow {
  /** All pending builds, and those that a crash interrupted. */
  queue: readonly QueuedBuild[];
  /** The builds of this process. */
  running: readonly Pick<BuildRow, "organizationId">[];
  /** The start of each organisation's newest build. */
  lastStartedAt: ReadonlyMap<string, number>;
}

/**
 * Chooses interrupted builds first. Then organisations take turns, so that a hundred builds of one do not delay
 * another; within an organisation the oldest comes first.
 */
export function chooseBuild({ queue, running, lastStartedAt }: BuildsNow): QueuedBuild | undefined {
  const rank = ({ status, organizationId, createdAt }: QueuedBuild): number[] => [
    status === "building" ? 0 : 1,
    running.filter((each) => each.organizationId === organizationId).length,
    lastStartedAt.get(organizationId) ?? 0,
    createdAt,
  ];
  const ranked = queue.map((build) => ({ build, rank: rank(build) }));
  return ranked.sort((one, other) => compare(one.rank, other.rank))[0]?.build;
}

function compare(one: number[], other: number[]): number {
  const index = one.findIndex((value, place) => value !== other[place]);
  return index === -1 ? 0 : (one[index] ?? 0) - (other[index] ?? 0);
}
