// How long the engine takes to build a project of `npm create vocalhost`, from the upload until it can be deployed.
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildArchive } from "../../e2e/harness/build-bot.ts";
import { packFolder } from "../../packages/cli/src/deploy/pack-folder.ts";
import { runProgram } from "../../e2e/harness/program.ts";
import { startServiceProcess } from "../../e2e/harness/service-process.ts";
import { requireBaseImage } from "../../testing/base-image.ts";
import { startContainerEngine } from "../../testing/container-engine.ts";
import type { Benchmark, Row } from "../report/row.ts";
import { figure, median, percentile } from "../report/statistics.ts";

const CREATE = fileURLToPath(
  new URL("../../packages/create-vocalhost/bin/create-vocalhost.js", import.meta.url),
);
const BUILDS = 5;

export const containerBuilds: Benchmark = {
  name: "container-builds",
  about: "projects built by a container engine",
  async run() {
    const { images } = await requireBaseImage();
    await using engine = await startContainerEngine();
    await using service = await startServiceProcess({
      environment: { ...engine.settings, VOCALHOST_BUILD_NETWORK: "none" },
      args: ["--default-base-images", images.folder],
    });
    using project = await newProject();
    const build = async (): Promise<number> => {
      const startedMs = performance.now();
      const { archive } = await packFolder({ folder: project.folder, exclude: [] });
      await buildArchive(service.api, new Uint8Array(archive));
      return performance.now() - startedMs;
    };
    const first = await build();
    const [unchanged, changed]: [number[], number[]] = [[], []];
    for (let count = 0; count < BUILDS; count++) {
      unchanged.push(await build());
      project.change(count);
      changed.push(await build());
    }
    const row = (what: string, took: number[], targetS: number): Row => ({
      what: `build by the engine (${engine.name}) of ${what}, median (slowest) of ${took.length}`,
      target: `≤ ${targetS} s`,
      measured: `${figure(median(took) / 1000)} (${figure(percentile(took, 1) / 1000)}) s`,
      met: median(took) <= targetS * 1000,
    });
    return [
      {
        what: `first build by the engine (${engine.name}), the base brought to it`,
        measured: `${figure(first / 1000)} s`,
      },
      row("an unchanged folder", unchanged, 2),
      row("a changed bot file", changed, 5),
    ];
  },
};

/** As `npm create vocalhost` makes it. */
async function newProject(): Promise<Disposable & { folder: string; change(count: number): void }> {
  const root = mkdtempSync(join(tmpdir(), "bench-project-"));
  const made = await runProgram(CREATE, { args: ["bot", "--yes", "--no-install"], workingFolder: root });
  if (made.code !== 0) throw new Error(made.errors);
  const folder = join(root, "bot");
  return {
    folder,
    change: (count) => appendFileSync(join(folder, "bot.ts"), `\n// change ${count}\n`),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
