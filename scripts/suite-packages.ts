// Packages of others that only a few suites use. Each folder has a lock file of its own, so that `npm ci` leaves them out.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

interface SuitePackages {
  folder: string;
  /** Files and folders that cannot do without them. */
  usedBy: string[];
}

const repository = fileURLToPath(new URL("../", import.meta.url));
const SUITES: SuitePackages[] = [
  {
    folder: "packages/livekit-agents",
    usedBy: ["packages/livekit-agents/", "e2e/realtime/livekit-agents/", "e2e/docs/samples.test.ts"],
  },
  {
    folder: "e2e/realtime/react-clients",
    usedBy: ["react-clients", "web-pages", "dashboard/talk"].map((name) => `e2e/realtime/${name}.test.ts`),
  },
  {
    folder: "scripts/kernel-compiler",
    usedBy: ["packages/audio/src/resample.test.ts", "packages/viva/src/kernel.test.ts"],
  },
];

/** Installs what these files need and is missing, or is not as its lock file says. */
export function installFor(files: readonly string[]): void {
  for (const { folder, usedBy } of SUITES)
    if (files.some((file) => usedBy.some((used) => file.startsWith(used)))) install(folder);
}

/** Installs the packages of all suites: the types of their sources are checked together with all others. */
export function installForAll(): void {
  for (const { folder } of SUITES) install(folder);
}

function install(folder: string): void {
  const cwd = join(repository, folder);
  const installed = join(cwd, "node_modules/.package-lock.json"); // npm writes it last
  const lock = join(cwd, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log(`Installing the packages of ${folder} …`);
  const { status, error } = spawnSync("npm", ["ci", "--ignore-scripts"], {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (error) throw error;
  if (status !== 0) process.exit(1);
}
