import { setTimeout as sleep } from "node:timers/promises";
import type { CommandContext } from "../define-command.ts";
import { Problem } from "../problem.ts";
import type { Service } from "../service/open-service.ts";

const WAIT_MS = 20_000;
const LOOK_AGAIN_MS = 200;

/** The service takes a set first and stores it then; a deployment needs it stored. */
export async function waitUntilStored(
  { api }: Service,
  name: string,
  { ui, signal }: CommandContext,
): Promise<void> {
  const startMs = performance.now();
  await ui.task(`Storing '${name}'`, async () => {
    for (;;) {
      const set = (await api.secrets.list()).sets.find((each) => each.name === name);
      if (set?.status === "ready") return;
      if (set?.status === "failed")
        throw new Problem("secrets_failed", `The set '${name}' could not be stored`, {
          why: set.errorMessage,
        });
      if (performance.now() - startMs > WAIT_MS)
        throw new Problem("secrets_pending", `The set '${name}' is not stored yet`, {
          why: "The service has accepted it and is still working on it.",
          fixes: ["Check again with: vocalhost secrets list"],
        });
      await sleep(LOOK_AGAIN_MS, undefined, { signal });
    }
  });
}
