/** Runs `each` for every item, `atOnce` at a time. Rejects with the first failure, once nothing runs any more. */
export async function severalAtOnce<T>(
  items: Iterable<T>,
  { atOnce, each }: { atOnce: number; each(item: T): Promise<void> },
): Promise<void> {
  const left = [...items].values();
  let hasFailed = false;
  async function work(): Promise<void> {
    for (const item of left) {
      if (hasFailed) return;
      try {
        await each(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  }
  const works = await Promise.allSettled(Array.from({ length: atOnce }, work));
  const failure = works.find(({ status }) => status === "rejected");
  if (failure?.status === "rejected") throw failure.reason;
}
