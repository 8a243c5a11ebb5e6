import type { ApiClient, Build } from "@vocalhost/protocol";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandContext } from "../define-command.ts";
import { Problem } from "../problem.ts";
import { shownBytes, shownSeconds } from "../results.ts";
import { shortId } from "../service/find.ts";
import type { PackedFolder } from "./pack-folder.ts";
import { patiently } from "./watch-rollout.ts";

export interface BuildOptions {
  api: ApiClient;
  packed: PackedFolder;
  region: string | undefined;
  dockerfile: string;
  context: CommandContext;
  /** Told when the service knows the build. */
  onStarted(buildId: string): void;
  /** Called with the number of bytes sent so far. */
  watchUpload(onSent: ((sentBytes: number) => void) | undefined): void;
}

const LOOK_AGAIN_MS = 400;
const LINES_MAX = 10_000;
const LAST_LINES = 12;

/** The build of exactly these files, if there is one. */
export async function findBuild(
  api: ApiClient,
  { packed, region, dockerfile }: Pick<BuildOptions, "packed" | "region" | "dockerfile">,
): Promise<Build | undefined> {
  const { contextHash } = packed;
  const query = {
    contextHash,
    status: "success" as const,
    limit: 10,
    ...(region === undefined ? {} : { region }),
  };
  const { builds } = await api.builds.list(query);
  return builds.find(({ dockerfilePath }) => dockerfilePath === dockerfile);
}

/** Uploads and builds; gives the id. Throws a `Problem` with the end of the log when it fails. */
export async function buildFolder(options: BuildOptions): Promise<string> {
  const { api, context } = options;
  const uploadId = await upload(options);
  const started = await api.builds.create({
    uploadId,
    dockerfilePath: options.dockerfile,
    ...regionOf(options),
  });
  options.onStarted(started.build.id);
  const build = await context.ui.task(`Building ${shortId(started.build.id)}`, () =>
    watchBuild(options, started.build),
  );
  if (build.status !== "success") throw await buildProblem(api, build);
  context.ui.note(`Built ${shortId(build.id)} in ${shownSeconds(build.buildDurationSeconds)}`);
  return build.id;
}

async function upload({ api, packed, context, watchUpload, ...options }: BuildOptions): Promise<string> {
  const { archive } = packed;
  return context.ui.task(`Uploading ${shownBytes(archive.length)}`, async (update) => {
    const { uploadId, uploadUrl, uploadFields } = await api.builds.createUpload(options.region);
    watchUpload((sentBytes) => update(sentBytes / archive.length));
    try {
      const file = new Blob([archive], { type: "application/gzip" });
      await api.builds.upload({ uploadUrl, uploadFields, file });
    } finally {
      watchUpload(undefined);
    }
    return uploadId;
  });
}

async function watchBuild({ api, context }: BuildOptions, started: Build): Promise<Build> {
  let build = started;
  let shown = 0;
  for (;;) {
    const { logs } = await patiently(() => api.builds.logs(build.id, { limit: LINES_MAX }), context.signal);
    for (const line of logs.slice(shown)) context.ui.note(`  ${line}`);
    shown = logs.length;
    if (build.status !== "pending" && build.status !== "building") return build;
    await sleep(LOOK_AGAIN_MS, undefined, { signal: context.signal });
    ({ build } = await patiently(() => api.builds.get(build.id), context.signal));
  }
}

async function buildProblem(api: ApiClient, build: Build): Promise<Problem> {
  const { logs } = await api.builds.logs(build.id, { limit: LINES_MAX });
  const reason =
    build.errorMessage ?? (build.status === "timeout" ? "It took too long." : "The service gave no reason.");
  const last = logs.slice(-LAST_LINES).filter((line) => !reason.includes(line));
  return new Problem("build_failed", `Build ${shortId(build.id)} failed, nothing was deployed`, {
    why: [reason, ...last].join("\n"),
    fixes: [`The whole log: vocalhost build logs ${build.id}`],
  });
}

function regionOf({ region }: Pick<BuildOptions, "region">): { region?: string } {
  return region === undefined ? {} : { region };
}
