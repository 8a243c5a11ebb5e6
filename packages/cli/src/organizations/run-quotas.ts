import { answer } from "../answer.ts";
import { exitCodes } from "../problem.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { toTable } from "../table.ts";

/** `vocalhost organizations quotas` */
export const run = onService<ServiceOptions>(async ({ api }, _options, context) => {
  const quotas = await api.quotas();
  const { agents, instances, builds, diskMib } = quotas;
  const rows = (
    [
      ["Agents", agents],
      ["Instances", instances],
      ["Builds waiting or running", builds],
      ["Uploads and builds, MiB", diskMib],
    ] as const
  ).map(([what, { used, limit }]) => [what, String(used), String(limit)]);
  answer(context, { quotas }, toTable(context.ui, ["What", "Used", "At most"], rows));
  return exitCodes.ok;
});
