import type { ApiClient } from "@vocalhost/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandContext } from "../define-command.ts";
import { Problem } from "../problem.ts";
import { shortId } from "../service/find.ts";
import { readRollout } from "./rollout.ts";

interface WatchOptions {
  api: ApiClient;
  agentName: string;
  /** Set for an agent in several regions. */
  region?: string | undefined;
  deploymentId: string;
  timeoutMs: number;
  context: CommandContext;
}

const LOOK_AGAIN_MS = 400;

/** Shows every state of a deployment until it serves; gives the last line. Throws a `Problem` when it does not. */
export async function watchRollout(options: WatchOptions): Promise<string> {
  const { api, agentName, region, deploymentId, context } = options;
  const { ui, signal } = context;
  const startMs = performance.now();
  const elapsed = (): string => `${((performance.now() - startMs) / 1000).toFixed(1)} s`.padStart(7);
  let before = "";
  return ui.task(`Rolling out ${shortId(deploymentId)}`, async (update) => {
    for (;;) {
      const record = await patiently(() => api.agents.get(agentName, { region }), signal);
      const rollout = readRollout(record, deploymentId);
      if (rollout.type === "done") {
        ui.note(`${elapsed()}  Active: ${rollout.line}`);
        return rollout.line;
      }
      if (rollout.type === "failed") throw rollout.problem;
      if (rollout.line !== before) ui.note(`${elapsed()}  ${rollout.line}`);
      before = rollout.line;
      update(undefined, elapsed().trim());
      if (performance.now() - startMs > options.timeoutMs) throw timedOut(options, record.available, before);
      await sleep(LOOK_AGAIN_MS, undefined, { signal });
    }
  });
}

function timedOut(
  { agentName, deploymentId, timeoutMs }: WatchOptions,
  isAvailable: boolean,
  state: string,
): Problem {
  return new Problem(
    "rollout_timed_out",
    `Deployment ${shortId(deploymentId)} is not active after ${Math.round(timeoutMs / 1000)} s`,
    {
      why: `${state}. ${isAvailable ? "The previous deployment is still serving." : "Until then the agent takes no sessions."} The rollout continues.`,
      fixes: [
        `vocalhost agent status ${agentName}`,
        `vocalhost logs ${agentName} --deployment ${deploymentId}`,
      ],
    },
  );
}

const PATIENCE_MS = 30_000; // a service that is restarted is back by then
const AGAIN_MS = 500;

/** Repeats a read while the service cannot be reached, for a while. */
export async function patiently<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const isLost = error instanceof TypeError; // fetch throws it when there is no answer
      if (!isLost || signal.aborted || performance.now() - startMs > PATIENCE_MS) throw error;
      await sleep(AGAIN_MS, undefined, { signal });
    }
  }
}
