import { answer } from "../answer.ts";
import { exitCodes } from "../problem.ts";
import { confirm } from "../questions.ts";
import { explained } from "../service/explain.ts";
import { findId } from "../service/find-id.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { maskedKey } from "./masked-key.ts";

interface Options extends ServiceOptions {
  id: string;
}

/** `vocalhost keys revoke` */
export const run = onService<Options>(async (service, options, context) => {
  const listed = await service.api.keys.list();
  const keys = [...listed.public, ...listed.private];
  const id = await findId(options.id, {
    what: "key",
    listedBy: "vocalhost keys list",
    known: async () => keys.map((each) => each.id),
  });
  const key = keys.find((each) => each.id === id);
  const named = key ? `'${key.metadata.name}' (${maskedKey(key.key)})` : id;
  const question = `Revoke the key ${named}? Requests with it will be refused.`;
  if (!(await confirm(context, question, { isDestructive: true }))) {
    context.ui.note("Nothing was revoked.");
    return exitCodes.failed;
  }
  await explained(service, service.api.keys.revoke(id), {
    subject: `the key ${id}`,
    missing: ["See which exist: vocalhost keys list"],
  });
  answer(context, { id }, `Revoked the key ${named}.`);
  return exitCodes.ok;
});
