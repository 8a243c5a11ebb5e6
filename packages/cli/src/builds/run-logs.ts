import { stripVTControlCharacters } from "node:util";
import { answer } from "../answer.ts";
import { explained } from "../service/explain.ts";
import { findId } from "../service/find-id.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";

interface Options extends ServiceOptions {
  id: string;
  limit: number | undefined;
}

const DEFAULT_LIMIT = 500;
const NEWEST = 100; // as many as the service lists at once

/** `vocalhost build logs` */
export const run = onService<Options>(async (service, { limit = DEFAULT_LIMIT, ...options }, context) => {
  const id = await findId(options.id, {
    what: "build",
    listedBy: "vocalhost build list",
    known: async () => (await service.api.builds.list({ limit: NEWEST })).builds.map((build) => build.id),
  });
  const about = { subject: `the build ${id}`, missing: ["See which exist: vocalhost build list"] };
  const { build } = await explained(service, service.api.builds.get(id), about);
  const { logs, nextToken } = await service.api.builds.logs(id, { limit });
  const text = logs.map((line) => stripVTControlCharacters(line)).join("\n");
  answer(
    context,
    { build, logs, ...(nextToken === undefined ? {} : { nextToken }) },
    text || "It printed nothing.",
  );
  if (build.errorMessage !== null)
    context.ui.note(`The build ended as ${build.status}: ${build.errorMessage}`);
  return 0;
});
