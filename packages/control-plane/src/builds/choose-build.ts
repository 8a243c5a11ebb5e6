import type { BuildRow } from "@vocalhost/store/schema";

export type QueuedBuild = Pick<BuildRow, "id" | "organizationId" | "status" | "createdAt">;

/** What builds are doing at the moment. */
export interface BuildsNow {
  /** All that wait, and those that somebody began and did not end. */
  queue: readonly QueuedBuild[];
  /** Ours. */
  running: readonly Pick<BuildRow, "organizationId">[];
  /** When each organisation's newest build began. */
  lastStartedAt: ReadonlyMap<string, number>;
}

/**
 * What a crash has cut short goes first. Then organisations take turns, so that a hundred builds of one keep nobody
 * else's waiting; within an organisation the oldest.
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
