import { answer } from "../answer.ts";
import { exitCodes } from "../problem.ts";
import { confirm } from "../questions.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { aboutSet } from "./about-set.ts";

interface Options extends ServiceOptions {
  set: string;
}

/** `vocalhost secrets delete` */
export const run = onService<Options>(async (service, { set }, context) => {
  if (!(await confirm(context, `Delete the set '${set}' and everything in it?`, { isDestructive: true }))) {
    context.ui.note("Nothing was deleted.");
    return exitCodes.failed;
  }
  await aboutSet(service, set, service.api.secrets.delete(set));
  answer(context, { set }, `Deleted '${set}'.`);
  return exitCodes.ok;
});
