import type { DeploymentListItem } from "@vocalhost/protocol";
import { watchRollout } from "../deploy/watch-rollout.ts";
import { exitCodes, Problem } from "../problem.ts";
import { confirm } from "../questions.ts";
import { answer } from "../results.ts";
import { aboutAgent } from "../service/explain.ts";
import { findAgentName, findDeployment, requireRegion, shortId } from "../service/find.ts";
import { onService, whereItStands } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";

interface RollbackOptions extends ServiceOptions {
  agent: string | undefined;
  to: string | undefined;
  region: string | undefined;
  timeout: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 10 * 60_000;

/** `vocalhost agent rollback` */
export const rollback = onService<RollbackOptions>(async (service, options, context) => {
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

interface DeleteOptions extends ServiceOptions {
  agent: string | undefined;
  region: string | undefined;
}

/** `vocalhost agent delete` */
export const remove = onService<DeleteOptions>(async (service, options, context) => {
  const agent = await findAgentName(options.agent);
  const { region } = options;
  const record = await aboutAgent(service, agent, service.api.agents.get(agent, { region }));
  requireRegion(record, { agent, region });
  const { activeSessionCount: count } = record;
  const where = region === undefined ? "" : ` in ${region}`;
  const running =
    count === 0 ? "" : ` ${count === 1 ? "Its session runs" : `Its ${count} sessions run`} to the end.`;
  const question = `Delete the agent '${agent}'${where}? It will take no more sessions.${running}`;
  if (!(await confirm(context, question, { isDestructive: true }))) {
    context.ui.note("Nothing was deleted.");
    return exitCodes.failed;
  }
  await aboutAgent(service, agent, service.api.agents.delete(agent, { region }));
  answer(
    context,
    { agent, region: record.region, activeSessions: count },
    `Deleted '${agent}'${where}.${running}`,
  );
  return exitCodes.ok;
});
