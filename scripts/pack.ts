// `npm run pack`: everything in one archive that makes new projects, for where our packages are in no registry.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HELP = `Packs all packages into one archive that makes new projects.

Usage: npm run pack [-- --out <folder>] [--no-build]

Then, on any machine with npm:
  npx ./create-vocalhost-<version>.tgz my-bot
`;
const repository = fileURLToPath(new URL("../", import.meta.url));
const PUBLISHED = [
  "carriers",
  "protocol",
  "audio",
  "simulator",
  "rooms",
  "viva",
  "images",
  "sdk",
  "livekit-agents",
  "control-plane",
  "cli",
];

const { values } = parseArgs({
  options: {
    out: { type: "string" },
    "no-build": { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const out = values.out ?? repository;
const staging = mkdtempSync(join(tmpdir(), "vocalhost-pack-"));
try {
  if (!values["no-build"]) run(process.execPath, [join(repository, "scripts/build.ts")], repository);
  const creator = join(staging, "create-vocalhost");
  cpSync(join(repository, "packages/create-vocalhost"), creator, {
    recursive: true,
    filter: (path) => !/[/\\](?:node_modules|src)$/.test(path),
  });
  const packages = join(creator, "packages");
  mkdirSync(packages);
  const folders = PUBLISHED.map((name) => join(repository, "packages", name));
  const names = Object.fromEntries(pack(folders, packages).map(({ name, filename }) => [name, filename]));
  writeFileSync(join(packages, "names.json"), `${JSON.stringify(names, null, 2)}\n`);
  const manifestFile = join(creator, "package.json");
  const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as { files: string[] };
  writeFileSync(manifestFile, JSON.stringify({ ...manifest, files: [...manifest.files, "packages"] }));
  mkdirSync(out, { recursive: true });
  const archive = pack([creator], out)[0]?.filename ?? "";
  const shown = relative(process.cwd(), join(out, archive));
  process.stdout.write(`\nWrote ${shown}. Make a project with it:\n\n  npx ./${shown} my-bot\n\n`);
} finally {
  rmSync(staging, { recursive: true, force: true });
}

function pack(folders: string[], destination: string): { name: string; filename: string }[] {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", destination, ...folders];
  return JSON.parse(run("npm", args, repository)) as { name: string; filename: string }[];
}

function run(command: string, args: string[], folder: string): string {
  const { status, error, stdout } = spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
  return stdout;
}
