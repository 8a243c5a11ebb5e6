import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { size } from "../../../../testing/sizes.ts";
import { mutants, type Mutant } from "./mutants.ts";

const SEEDS = size(60, 2_000);
const MUTANTS = size(2, mutants.length);
const MUTANT_SEEDS = 400; // each is caught far earlier
const SOURCE = join(import.meta.dirname, "..");
const MODULES = join(SOURCE, "..", "..", "..", "node_modules");

test(`${SEEDS} seeds keep every invariant`, async () => {
  const shares = Math.max(1, Math.min(availableParallelism(), 4));
  const each = Math.ceil(SEEDS / shares);
  const runs = await Promise.all(
    Array.from({ length: shares }, (_, share) => runSeeds(SOURCE, share * each, each)),
  );
  assert.deepEqual(
    runs.filter(({ code }) => code !== 0),
    [],
  );
});

for (const mutant of mutants.slice(0, MUTANTS))
  test(`a simulation of "${mutant.name}" finds the fault`, async () => {
    const { code, output } = await runMutant(mutant);
    assert.equal(code, 1, output);
    assert.match(output, /^seed \d+: /);
  });

async function runMutant(mutant: Mutant): Promise<{ code: number | null; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), "vocalhost-mutant-"));
  try {
    await cp(SOURCE, join(folder, "src"), { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
    await symlink(MODULES, join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    for (const { file, find, replace } of mutant.edits) {
      const path = join(folder, "src", file);
      const text = await readFile(path, "utf8");
      assert.equal(text.split(find).length, 2, `"${find}" is not once in ${file}`);
      await writeFile(
        path,
        text.replace(find, () => replace),
      );
    }
    return await runSeeds(join(folder, "src"), 0, MUTANT_SEEDS, "stop");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runSeeds(
  source: string,
  first: number,
  count: number,
  ...rest: string[]
): Promise<{ code: number | null; output: string }> {
  const child = spawn(
    process.execPath,
    [
      "--conditions=@vocalhost/source",
      join(source, "simulation/run-seeds.ts"),
      String(first),
      String(count),
      ...rest,
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}
