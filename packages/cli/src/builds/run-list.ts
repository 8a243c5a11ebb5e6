import type { Build } from "@vocalhost/protocol";
import { answer } from "../answer.ts";
import { shownBytes, shownSeconds, shownTime } from "../moments.ts";
import { onService } from "../service/on-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import { shortId } from "../service/short-id.ts";
import { toTable } from "../table.ts";
import type { Style } from "../ui.ts";

interface Options extends ServiceOptions {
  limit: number | undefined;
  status: Build["status"] | undefined;
  region: string | undefined;
}

const DEFAULT_LIMIT = 10;
const STYLES: Record<Build["status"], Style> = {
  success: "green",
  failed: "red",
  timeout: "red",
  pending: "yellow",
  building: "yellow",
};

/** `vocalhost build list` */
export const run = onService<Options>(async ({ api }, { limit = DEFAULT_LIMIT, status, region }, context) => {
  const query = {
    limit,
    ...(status === undefined ? {} : { status }),
    ...(region === undefined ? {} : { region }),
  };
  const { builds, total } = await api.builds.list(query);
  const rows = builds.map((build) => [
    shortId(build.id),
    { text: build.status, style: STYLES[build.status] },
    build.region,
    shownSeconds(build.buildDurationSeconds),
    build.contextSizeBytes === null ? "–" : shownBytes(build.contextSizeBytes),
    shownTime(build.createdAt),
  ]);
  const text =
    rows.length === 0
      ? "No builds."
      : toTable(context.ui, ["Build", "Status", "Region", "Took", "Upload", "Created"], rows);
  answer(context, { builds, total }, text);
  return 0;
});
