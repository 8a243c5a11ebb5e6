// What it takes to have the engine build a project of `npm create vocalhost`, from the upload until it can be deployed.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildBot } from "../../e2e/harness/build-bot.ts";
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
    const project = await newProject();
    const changed = (count: number): Record<string, string> => ({
      ...project,
      "bot.ts": `${project["bot.ts"]}\n// change ${count}\n`,
    });
    const build = async (files: Record<string, string>): Promise<number> => {
      const startedMs = performance.now();
      await buildBot(service.api, files);
      return performance.now() - startedMs;
    };
    const first = await build(project);
    const [unchanged, other]: [number[], number[]] = [[], []];
    for (let count = 0; count < BUILDS; count++) {
      unchanged.push(await build(project));
      other.push(await build(changed(count)));
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
      row("a changed bot file", other, 5),
    ];
  },
};

/** Its files, as `npm create` makes them. */
async function newProject(): Promise<Record<string, string>> {
  const root = mkdtempSync(join(tmpdir(), "bench-project-"));
  try {
    const made = await runProgram(CREATE, { args: ["bot", "--yes", "--no-install"], workingFolder: root });
    if (made.code !== 0) throw new Error(made.errors);
    const folder = join(root, "bot");
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    return Object.fromEntries(
      files.map(({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [path.slice(folder.length + 1), readFileSync(path, "utf8")];
      }),
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
