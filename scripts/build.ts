// Builds what others install: programs and types of the published packages, and the pages. `--no-check` leaves it to
// `npm run types` to look for mistakes.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { BUNDLED_PACKAGES, bundlePackage } from "./bundle.ts";
import { installSuites } from "./suite-packages.ts";

const repository = fileURLToPath(new URL("../", import.meta.url));
const PACKAGES = [
  "carriers",
  "protocol",
  "audio",
  "simulator",
  "rooms",
  "sdk",
  "livekit-agents",
  "viva",
  "images",
  "control-plane",
  "cli",
  "create-vocalhost",
]; // each after those it imports
const ONLY_PROGRAMS = new Set(["control-plane", "cli"]); // nothing imports them, so they have no types to offer

const { values } = parseArgs({ options: { "no-check": { type: "boolean", default: false } } });
if (!values["no-check"]) await installSuites(["packages/livekit-agents/"], { isLong: false });
for (const name of PACKAGES) {
  const folder = join(repository, "packages", name);
  const dist = join(folder, "dist");
  rmSync(dist, { recursive: true, force: true }); // what a renamed file left would be published
  const isBundled = BUNDLED_PACKAGES.includes(name);
  if (!ONLY_PROGRAMS.has(name))
    run(
      join(repository, "node_modules/.bin/tsc"),
      ...["-p", join(folder, "tsconfig.build.json")],
      ...(isBundled ? ["--emitDeclarationOnly"] : []),
      ...(values["no-check"] ? ["--noCheck"] : []),
    );
  if (isBundled) await bundlePackage(name, dist);
}
run(process.execPath, join(repository, "scripts/build-client-page.ts"));
run(process.execPath, join(repository, "scripts/build-dashboard.ts"));
if (!values["no-check"])
  run(process.execPath, "--conditions=@vocalhost/source", join(repository, "scripts/docs-site/build.ts"));

function run(command: string, ...args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
