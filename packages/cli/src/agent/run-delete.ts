import { answer } from "../answer.ts";
import { exitCodes } from "../problem.ts";
import { confirm } from "../questions.ts";
import { findAgentName } from "../service/agent-name.ts";
import { aboutAgent } from "../service/explain.ts";
import { requireRegion } from "../service/require-region.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";

interface Options extends ServiceOptions {
  agent: string | undefined;
  region: string | undefined;
}

/** `vocalhost agent delete` */
export const run = onService<Options>(async (service, options, context) => {
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
