// Builds what others install: JavaScript and types of the published packages, and the pages.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../", import.meta.url));
const PACKAGES = [
  "protocol",
  "audio",
  "simulator",
  "rooms",
  "sdk",
  "viva",
  "images",
  "control-plane",
  "cli",
  "create-vocalhost",
]; // each after those it imports

for (const name of PACKAGES) {
  const folder = join(repository, "packages", name);
  rmSync(join(folder, "dist"), { recursive: true, force: true }); // what a renamed file left would be published
  run(join(repository, "node_modules/.bin/tsc"), "-p", join(folder, "tsconfig.build.json"));
}
run(process.execPath, join(repository, "scripts/build-client-page.ts"));
run(process.execPath, join(repository, "scripts/build-dashboard.ts"));

function run(command: string, ...args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
