import { answer } from "../answer.ts";
import { exitCodes } from "../problem.ts";
import { confirm } from "../questions.ts";
import { explained } from "../service/explain.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";

interface Options extends ServiceOptions {
  set: string;
  key: string;
}

/** `vocalhost secrets unset` */
export const run = onService<Options>(async (service, { set, key }, context) => {
  if (!(await confirm(context, `Remove ${key} from '${set}'?`, { isDestructive: true }))) {
    context.ui.note("Nothing was changed.");
    return exitCodes.failed;
  }
  await explained(service, service.api.secrets.deleteKey(set, key), {
    subject: `the secret ${key} in a set '${set}'`,
    missing: [`See what it holds: vocalhost secrets list ${set}`],
  });
  answer(context, { set, key }, `Removed ${key} from '${set}'. Running instances keep it until they end.`);
  return exitCodes.ok;
});
