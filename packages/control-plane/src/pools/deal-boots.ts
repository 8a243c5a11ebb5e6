import type { InstanceRow } from "@vocalhost/store/schema";

/** An instance that is to be made or is booting, and its owners. */
export type Boot = Pick<InstanceRow, "id" | "organizationId" | "agentId" | "sessionId" | "createdAt">;

/**
 * Chooses which waiting instances are made next: those of the organisation with the fewest boots under way, then of the
 * agent with the fewest. Neither a hundred boots of one agent nor a hundred agents of one organisation hold up another's.
 * Among equals, instances that a session waits for come first, then the oldest.
 */
export function dealBoots<Waiting extends { instance: Boot }>(
  waiting: readonly Waiting[],
  { underWay, places }: { underWay: Iterable<Boot>; places: number },
): Waiting[] {
  const has = new Map<string, number>();
  const take = ({ organizationId, agentId }: Boot): void => {
    for (const owner of [organizationId, agentId]) has.set(owner, (has.get(owner) ?? 0) + 1);
  };
  for (const boot of underWay) take(boot);
  const left = new Set(waiting);
  const dealt: Waiting[] = [];
  while (dealt.length < places && left.size > 0) {
    const next = [...left].reduce((best, one) =>
      compare(one.instance, best.instance, has) < 0 ? one : best,
    );
    left.delete(next);
    take(next.instance);
    dealt.push(next);
  }
  return dealt;
}

function compare(a: Boot, b: Boot, has: ReadonlyMap<string, number>): number {
  const count = (owner: string): number => has.get(owner) ?? 0;
  return (
    count(a.organizationId) - count(b.organizationId) ||
    count(a.agentId) - count(b.agentId) ||
    Number(b.sessionId !== null) - Number(a.sessionId !== null) ||
    a.createdAt - b.createdAt
  );
}
