import { answer } from "../answer.ts";
import { exitCodes } from "../problem.ts";
import { explained } from "../service/explain.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";

interface Options extends ServiceOptions {
  name: string;
  title: string | undefined;
}

/** `vocalhost organizations create` */
export const run = onService<Options>(async (service, { name, title }, context) => {
  const made = await explained(
    service,
    service.api.createOrganization({ name, ...(title === undefined ? {} : { verboseName: title }) }),
  );
  answer(
    context,
    made,
    `Created the organisation ${made.name}. Work in it with --organization ${made.name}; its other members are invited in the dashboard.`,
  );
  return exitCodes.ok;
});
