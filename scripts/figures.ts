// `node scripts/figures.ts`: how large the code is, in figures that can be compared between two commits.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../", import.meta.url));
const FUNCTION_LINES_MAX = 70;
const SMALL_LINES = 40;

const sources = run("git", ["ls-files", "packages", "scripts", "examples", "bench"])
  .split("\n")
  .filter((path) => /\.tsx?$/.test(path) && existsSync(join(repository, path)))
  .filter((path) => !/\.test\.tsx?$|\/testing\/|\/fixtures\//.test(path))
  .map((path) => ({ path, lines: readFileSync(join(repository, path), "utf8").split("\n").length - 1 }));
const total = sum(sources);
const packages = Object.entries(
  Object.groupBy(sources, ({ path }) => /^packages\/[^/]+|^[^/]+/.exec(path)![0]),
)
  .map(([name, files = []]) => ({ name, files: files.length, lines: sum(files) }))
  .toSorted((a, b) => b.lines - a.lines);
const [largest] = packages;

console.log(`source lines (no tests)     ${total}`);
console.log(`files                       ${sources.length}`);
console.log(
  `files of ${SMALL_LINES} lines or fewer  ${sources.filter(({ lines }) => lines <= SMALL_LINES).length}`,
);
console.log(`functions over ${FUNCTION_LINES_MAX} lines     ${longFunctions()}`);
console.log(
  `largest package             ${largest?.name}, ${Math.round(((largest?.lines ?? 0) / total) * 100)} %`,
);
console.log(`node_modules                ${megabytes("node_modules")} MB\n`);
for (const { name, files, lines } of packages)
  console.log(`${name.padEnd(28)}${String(lines).padStart(7)} lines${String(files).padStart(6)} files`);

function sum(files: { lines: number }[]): number {
  return files.reduce((lines, file) => lines + file.lines, 0);
}

function longFunctions(): number {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-figures-"));
  const config = join(folder.path, "oxlint.json");
  const rule = ["error", { max: FUNCTION_LINES_MAX }];
  writeFileSync(
    config,
    JSON.stringify({ categories: { correctness: "off" }, rules: { "max-lines-per-function": rule } }),
  );
  const report = run(join(repository, "node_modules/.bin/oxlint"), [
    ...["-c", config, "--format", "json"],
    ...sources.map(({ path }) => path),
  ]);
  return (JSON.parse(report) as { diagnostics: unknown[] }).diagnostics.length;
}

function megabytes(folder: string): number {
  return Number(/^\d+/.exec(run("du", ["-sm", folder]))?.[0] ?? 0);
}

function run(command: string, args: string[]): string {
  const { stdout, error } = spawnSync(command, args, {
    cwd: repository,
    encoding: "utf8",
    maxBuffer: 1e9,
  });
  if (error) throw error;
  return stdout;
}
