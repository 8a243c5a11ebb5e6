// Packages of others that only a few suites use. Each folder has a lock file of its own, so that `npm ci` leaves them out.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

interface SuitePackages {
  folder: string;
  /** Files and folders that cannot do without them. */
  usedBy: string[];
  /** The usual size of the tests skips what needs them. */
  isOnlyForLong?: boolean;
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
    folder: "scripts/docs-site",
    usedBy: ["scripts/docs-site/", "e2e/docs/site.long.ts"],
    isOnlyForLong: true,
  },
  {
    folder: "scripts/kernel-compiler",
    usedBy: ["packages/audio/src/resample.test.ts", "packages/viva/src/kernel.test.ts"],
    isOnlyForLong: true,
  },
];

/** Installs what these files need and is missing, or is not as its lock file says; without files, what all tests need. */
export async function installSuites(
  files: readonly string[],
  { isLong }: { isLong: boolean },
): Promise<void> {
  const isNeeded = ({ usedBy, isOnlyForLong }: SuitePackages): boolean =>
    (isLong || !isOnlyForLong) &&
    (files.length === 0 || files.some((file) => usedBy.some((used) => file.startsWith(used))));
  // The types of their sources are checked together with all others, so all tests need all folders.
  await Promise.all(SUITES.filter(isNeeded).map(({ folder }) => install(folder)));
}

async function install(folder: string): Promise<void> {
  const cwd = join(repository, folder);
  const installed = join(cwd, "node_modules/.package-lock.json"); // npm writes it last
  const lock = join(cwd, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log(`Installing the packages of ${folder} …`);
  const stdio = ["ignore", "ignore", "inherit"] as const;
  const child = spawn("npm", ["ci", "--ignore-scripts", "--prefer-offline"], { cwd, stdio: [...stdio] });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) process.exit(1);
}
