import type { DeploymentListItem } from "@vocalhost/protocol";
import { answer } from "../answer.ts";
import { watchRollout } from "../deploy/watch-rollout.ts";
import { exitCodes, Problem } from "../problem.ts";
import { confirm } from "../questions.ts";
import { findAgentName } from "../service/agent-name.ts";
import { aboutAgent } from "../service/explain.ts";
import { findDeployment } from "../service/find-deployment.ts";
import { requireRegion } from "../service/require-region.ts";
import { onService } from "../service/on-service.ts";
import { shortId } from "../service/short-id.ts";
import { whereItStands } from "../service/where-it-stands.ts";
import type { ServiceOptions } from "../service/service-options.ts";

interface Options extends ServiceOptions {
  agent: string | undefined;
  to: string | undefined;
  region: string | undefined;
  timeout: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 10 * 60_000;

/** `vocalhost agent rollback` */
export const run = onService<Options>(async (service, options, context) => {
  const { api } = service;
  const name = await findAgentName(options.agent);
  const { region } = options;
  const record = await aboutAgent(service, name, api.agents.get(name, { region }));
  requireRegion(record, { agent: name, region });
  const { deployments } = await api.agents.deployments(name, { region });
  const target =
    options.to === undefined
      ? lastBefore(record.desiredDeploymentId, deployments, name)
      : await findDeployment(service, { agentName: name, region }, options.to);
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
    api.agents.rollback(name, target, { region }),
  );
  return whereItStands(
    context,
    () =>
      `Deployment ${shortId(deploymentId)} keeps rolling out on the service. Check it with: vocalhost agent status ${name}`,
    async () => {
      const timeoutMs = options.timeout ?? DEFAULT_TIMEOUT_MS;
      const state = await watchRollout({ api, agentName: name, region, deploymentId, timeoutMs, context });
      answer(
        context,
        { agent: name, deploymentId, rolledBackTo: target },
        `${context.ui.style("green", `'${name}' is back at ${shortId(target)}`)}, as deployment ${shortId(deploymentId)}: ${state}.`,
      );
      return exitCodes.ok;
    },
  );
});

/** The newest before the current one that has served. */
function lastBefore(currentId: string, deployments: DeploymentListItem[], name: string): string {
  const current = deployments.findIndex(({ id }) => id === currentId);
  const before = deployments
    .slice(current + 1)
    .find(({ phase }) => ["Active", "Draining", "Retired"].includes(phase));
  if (before) return before.id;
  throw new Problem("nothing_before", `'${name}' has no earlier deployment that has served`, {
    fixes: [`See which exist: vocalhost agent deployments ${name}`],
  });
}
