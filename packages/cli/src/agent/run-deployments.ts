import { answer } from "../answer.ts";
import { shownTime } from "../moments.ts";
import { findAgentName } from "../service/agent-name.ts";
import { aboutAgent } from "../service/explain.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { shortId } from "../service/short-id.ts";
import { toTable } from "../table.ts";
import type { Style } from "../ui.ts";

interface Options extends ServiceOptions {
  agent: string | undefined;
  region: string | undefined;
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
  const { region } = options;
  const listed = service.api.agents.deployments(name, { region });
  const { deployments } = await aboutAgent(service, name, listed);
  const rows = deployments.map(({ id, phase, settings, failure, createdAt }) => [
    shortId(id),
    { text: failure ? `${phase}: ${failure.code}` : phase, style: STYLES[phase] ?? ("dim" as const) },
    settings.buildId === null ? settings.image : `build ${shortId(settings.buildId)}`,
    settings.agentProfile,
    settings.audioFilter ?? "–",
    settings.secretSet ?? "–",
    shownTime(createdAt),
  ]);
  const columns = ["Deployment", "Phase", "Source", "Profile", "Filter", "Secrets", "Created"];
  answer(context, { deployments }, toTable(context.ui, columns, rows));
  return 0;
});
