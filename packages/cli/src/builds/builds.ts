import type { Build } from "@vocalhost/protocol";
import { stripVTControlCharacters } from "node:util";
import { answer, shownBytes, shownSeconds, shownTime, toTable } from "../results.ts";
import { explained } from "../service/explain.ts";
import { findId, shortId } from "../service/find.ts";
import { onService } from "../service/open-service.ts";
import type { ServiceOptions } from "../service/service-options.ts";
import type { Style } from "../ui.ts";

interface ListOptions extends ServiceOptions {
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
export const list = onService<ListOptions>(
  async ({ api }, { limit = DEFAULT_LIMIT, status, region }, context) => {
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
  },
);

interface LogsOptions extends ServiceOptions {
  id: string;
  limit: number | undefined;
}

const DEFAULT_LINES = 500;
const NEWEST = 100; // as many as the service lists at once

/** `vocalhost build logs` */
export const logs = onService<LogsOptions>(
  async (service, { limit = DEFAULT_LINES, ...options }, context) => {
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
  },
);
