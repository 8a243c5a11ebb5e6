import { answer } from "../answer.ts";
import { exitCodes } from "../problem.ts";
import { confirm } from "../questions.ts";
import { findAgentName } from "../service/agent-name.ts";
import { aboutAgent } from "../service/explain.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";

interface Options extends ServiceOptions {
  agent: string | undefined;
}

/** `vocalhost agent delete` */
export const run = onService<Options>(async (service, options, context) => {
  const agent = await findAgentName(options.agent);
  const record = await aboutAgent(service, agent, service.api.agents.get(agent));
  const { activeSessionCount: count } = record;
  const running =
    count === 0 ? "" : ` ${count === 1 ? "Its session runs" : `Its ${count} sessions run`} to the end.`;
  const question = `Delete the agent '${agent}'? It will take no more sessions.${running}`;
  if (!(await confirm(context, question, { isDestructive: true }))) {
    context.ui.note("Nothing was deleted.");
    return exitCodes.failed;
  }
  await aboutAgent(service, agent, service.api.agents.delete(agent));
  answer(context, { agent, activeSessions: count }, `Deleted '${agent}'.${running}`);
  return exitCodes.ok;
});
