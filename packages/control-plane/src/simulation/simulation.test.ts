import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { size } from "../../../../testing/sizes.ts";
import { clusterMutants } from "./cluster-mutants.ts";
import { mutants, type Mutant } from "./mutants.ts";

const SEEDS = size(60, 2_000);
const MUTANTS = size(1, mutants.length);
const MUTANT_SEEDS = 400; // each is caught far earlier
const CLUSTER_MUTANTS = size(1, clusterMutants.length);
const CLUSTER = size(
  { seeds: 1, agents: 20, instancesEach: 10 },
  { seeds: 1, agents: 500, instancesEach: 20 },
);
const SMALL_CLUSTER = [20, 10] as const;
const CLUSTER_SEEDS = size(0, 50);
const PACKAGES = join(import.meta.dirname, "../../..");
/** Packages that faults are put into; all others are as installed. */
const DECIDING = ["base", "store", "drivers", "control-plane"];

test(`${SEEDS} seeds keep every invariant`, async () => {
  const shares = Math.max(1, Math.min(availableParallelism(), 4));
  const each = Math.ceil(SEEDS / shares);
  const runs = await Promise.all(
    Array.from({ length: shares }, (_, share) => runSeeds(PACKAGES, [share * each, each])),
  );
  assert.deepEqual(
    runs.filter(({ code }) => code !== 0),
    [],
  );
});

const { seeds, agents, instancesEach } = CLUSTER;
test(`${agents * instancesEach} instances of ${agents} agents, three controllers, failing nodes`, async () => {
  const run = await runCluster(PACKAGES, [0, seeds, agents, instancesEach]);
  assert.equal(run.code, 0, run.output);
});

if (CLUSTER_SEEDS > 0)
  test(`${CLUSTER_SEEDS} small clusters keep every invariant`, async () => {
    const run = await runCluster(PACKAGES, [1, CLUSTER_SEEDS, ...SMALL_CLUSTER]);
    assert.equal(run.code, 0, run.output);
  });

test("every fault that is put into the code still finds its place", async () => {
  for (const { edits } of [...mutants, ...clusterMutants])
    for (const edit of edits) await withFault(PACKAGES, edit);
});

for (const mutant of mutants.slice(0, MUTANTS))
  test(`a simulation of "${mutant.name}" finds the fault`, async () => {
    foundFault(await runMutant(mutant, (packages) => runSeeds(packages, [0, MUTANT_SEEDS, "stop"])));
  });

for (const mutant of clusterMutants.slice(0, CLUSTER_MUTANTS))
  test(`a simulated cluster of "${mutant.name}" finds the fault`, async () => {
    const cluster = mutant.shownBy ?? SMALL_CLUSTER;
    foundFault(await runMutant(mutant, (packages) => runCluster(packages, [0, 20, ...cluster, "stop"])));
  });

interface Run {
  code: number | null;
  output: string;
}

function foundFault({ code, output }: Run): void {
  assert.equal(code, 1, output);
  assert.match(output, /^seed \d+: /m);
}

async function runMutant(mutant: Mutant, run: (packages: string) => Promise<Run>): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), "vocalhost-mutant-"));
  try {
    const packages = join(folder, "packages");
    const modules = join(folder, "node_modules");
    await linkAll(join(PACKAGES, "../node_modules"), modules, "@vocalhost");
    await linkAll(join(PACKAGES, "../node_modules/@vocalhost"), join(modules, "@vocalhost"), ...DECIDING);
    for (const name of DECIDING) {
      for (const part of ["package.json", "src"])
        await cp(join(PACKAGES, name, part), join(packages, name, part), {
          recursive: true,
          filter: (path) => !path.endsWith(".test.ts"),
        });
      await symlink(join(packages, name), join(modules, "@vocalhost", name));
    }
    for (const edit of mutant.edits)
      await writeFile(join(packages, edit.file), await withFault(packages, edit));
    return await run(packages);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Links to everything in a folder but what is named. */
async function linkAll(from: string, to: string, ...but: string[]): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from))
    if (!but.includes(name)) await symlink(await realpath(join(from, name)), join(to, name));
}

async function withFault(
  packages: string,
  { file, find, replace }: Mutant["edits"][number],
): Promise<string> {
  const parts = (await readFile(join(packages, file), "utf8")).split(find);
  assert.equal(parts.length, 2, `"${find}" is not once in ${file}`);
  return parts.join(replace);
}

function runSeeds(packages: string, rest: (string | number)[]): Promise<Run> {
  return runFile(join(packages, "control-plane/src/simulation/run-seeds.ts"), rest);
}

function runCluster(packages: string, rest: (string | number)[]): Promise<Run> {
  return runFile(join(packages, "control-plane/src/simulation/run-cluster.ts"), rest);
}

async function runFile(file: string, rest: (string | number)[]): Promise<Run> {
  const child = spawn(process.execPath, ["--conditions=@vocalhost/source", file, ...rest.map(String)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}
