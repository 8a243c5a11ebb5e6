import { answer } from "../answer.ts";
import { shownTime } from "../moments.ts";
import { findAgentName } from "../service/agent-name.ts";
import { aboutAgent } from "../service/explain.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { toTable } from "../table.ts";
import type { Style } from "../ui.ts";

interface Options extends ServiceOptions {
  agent: string | undefined;
}

const STYLES: Partial<Record<string, Style>> = {
  Active: "green",
  Failed: "red",
  Creating: "yellow",
  Validating: "yellow",
};

/** `vocalhost agent deployments` */
export const run = onService<Options>(async (service, options, context) => {
  const name = await findAgentName(options.agent);
  const { deployments } = await aboutAgent(service, name, service.api.agents.deployments(name));
  const rows = deployments.map(({ id, phase, manifest: { spec }, createdAt }) => [
    id,
    { text: phase, style: STYLES[phase] ?? ("dim" as const) },
    spec.buildId === undefined ? spec.image : `build ${spec.buildId.slice(0, 8)}`,
    shownTime(createdAt),
  ]);
  answer(context, { deployments }, toTable(context.ui, ["Deployment", "Phase", "Source", "Created"], rows));
  return 0;
});
