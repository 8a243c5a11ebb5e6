import type { DeploymentListItem } from "@vocalhost/protocol";
import { answer } from "../answer.ts";
import { watchRollout } from "../deploy/watch-rollout.ts";
import { exitCodes, Problem } from "../problem.ts";
import { confirm } from "../questions.ts";
import { findAgentName } from "../service/agent-name.ts";
import { aboutAgent } from "../service/explain.ts";
import { onService } from "../service/on-service.ts";
import { shortId } from "../service/short-id.ts";
import { whereItStands } from "../service/where-it-stands.ts";
import type { ServiceOptions } from "../service/service-options.ts";

interface Options extends ServiceOptions {
  agent: string | undefined;
  to: string | undefined;
  timeout: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 10 * 60_000;

/** `vocalhost agent rollback` */
export const run = onService<Options>(async (service, options, context) => {
  const { api } = service;
  const name = await findAgentName(options.agent);
  const record = await aboutAgent(service, name, api.agents.get(name));
  const { deployments } = await api.agents.deployments(name);
  const target = findTarget({ name, deployments, currentId: record.desiredDeploymentId, wanted: options.to });
  const from = shortId(record.desiredDeploymentId);
  if (
    !(await confirm(
      context,
      `Roll '${name}' back from ${from} to ${shortId(target)}? Calls in progress are not interrupted.`,
    ))
  ) {
    context.ui.note("Nothing was changed.");
    return exitCodes.failed;
  }
  const { desiredDeploymentId: deploymentId } = await aboutAgent(
    service,
    name,
    api.agents.rollback(name, target),
  );
  return whereItStands(
    context,
    () =>
      `Deployment ${shortId(deploymentId)} keeps rolling out on the service. Check it with: vocalhost agent status ${name}`,
    async () => {
      const timeoutMs = options.timeout ?? DEFAULT_TIMEOUT_MS;
      const state = await watchRollout({ api, agentName: name, deploymentId, timeoutMs, context });
      answer(
        context,
        { agent: name, deploymentId, rolledBackTo: target },
        `${context.ui.style("green", `'${name}' is back at ${shortId(target)}`)}, as deployment ${shortId(deploymentId)}: ${state}.`,
      );
      return exitCodes.ok;
    },
  );
});

/** The one that was named, by its whole id or its beginning; else the newest before the current one that has served. */
function findTarget(options: {
  name: string;
  deployments: DeploymentListItem[];
  currentId: string;
  wanted: string | undefined;
}): string {
  const { name, deployments, currentId, wanted } = options;
  if (wanted !== undefined) {
    const found = deployments.filter(({ id }) => id.startsWith(wanted.toLowerCase()));
    if (found.length === 1 && found[0]) return found[0].id;
    const message =
      found.length === 0
        ? `'${name}' has no deployment ${wanted}`
        : `Several deployments start with ${wanted}`;
    throw new Problem("not_found", message, {
      fixes: [`See which exist: vocalhost agent deployments ${name}`],
    });
  }
  const current = deployments.findIndex(({ id }) => id === currentId);
  const before = deployments
    .slice(current + 1)
    .find(({ phase }) => ["Active", "Draining", "Retired"].includes(phase));
  if (before) return before.id;
  throw new Problem("nothing_before", `'${name}' has no earlier deployment that has served`, {
    fixes: [`See which exist: vocalhost agent deployments ${name}`],
  });
}
