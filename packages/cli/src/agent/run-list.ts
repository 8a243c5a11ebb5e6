import { answer } from "../answer.ts";
import { shownTime } from "../moments.ts";
import { onService } from "../service/on-service.ts";
import { shortId } from "../service/short-id.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { toTable } from "../table.ts";
import { agentState } from "./agent-state.ts";

interface Options extends ServiceOptions {
  region: string | undefined;
}

/** `vocalhost agent list` */
export const run = onService<Options>(async ({ api }, { region }, context) => {
  const { services } = await api.agents.list({
    includeRecord: true,
    ...(region === undefined ? {} : { region }),
  });
  if (services.length === 0) {
    answer(context, { agents: [] }, "No agents yet. Create one with: vocalhost deploy");
    return 0;
  }
  const rows = services.map(({ name, region: place, desiredDeploymentId, updatedAt, record }) => {
    const state = record && agentState(record);
    return [
      { text: name, style: "bold" as const },
      state ? { text: state.word, style: state.style } : "–",
      String(record?.activeSessionCount ?? "–"),
      record ? `${record.autoScaling.minReplicas}–${record.autoScaling.maxReplicas}` : "–",
      place,
      shortId(desiredDeploymentId),
      shownTime(updatedAt),
    ];
  });
  const columns = ["Name", "State", "Sessions", "Agents", "Region", "Deployment", "Updated"];
  answer(context, { agents: services }, toTable(context.ui, columns, rows));
  return 0;
});
