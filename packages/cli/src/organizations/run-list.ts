import { answer } from "../answer.ts";
import { exitCodes } from "../problem.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { toTable } from "../table.ts";

/** `vocalhost organizations list` */
export const run = onService<ServiceOptions>(async ({ api }, _options, context) => {
  const { organizations } = await api.organizations();
  const rows = organizations.map(({ name, verboseName, role }) => [
    { text: name, style: "bold" as const },
    verboseName,
    role ?? "by key",
  ]);
  answer(context, { organizations }, toTable(context.ui, ["Name", "Title", "Role"], rows));
  return exitCodes.ok;
});
