const DEADLINE_MS = 30_000;
const ASK_AGAIN_MS = 20;

/** Asks again and again until the answer is there. */
export async function until<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadlineMs) throw new Error(`No ${what} within ${DEADLINE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
}
