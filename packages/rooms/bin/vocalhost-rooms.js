#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read too: they start the Node that comes with us.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

// In the repository there are sources and nothing is built; the published package has only `dist`.
const sources = new URL("../src/main.ts", import.meta.url);
const built = new URL("../dist/main.js", import.meta.url);
const isRepository = existsSync(sources);
const [major, minor] = process.versions.node.split(".").map(Number);
const isNewEnough = major > 24 || (major === 24 && minor >= 12);

if (isNewEnough && !isRepository) await import(built.href);
else run(isNewEnough ? process.execPath : ownNode());

/** A process of its own, since its children get its flags. */
function run(node) {
  const flags = isRepository ? ["--conditions=@vocalhost/source"] : [];
  const child = spawn(node, [...flags, fileURLToPath(isRepository ? sources : built)], { stdio: "inherit" });
  process.on("SIGINT", () => {}); // the terminal's Ctrl-C reaches it too
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`${node} cannot be started: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}

/** From the npm package for this machine, which exists for Linux. */
function ownNode() {
  try {
    const { resolve } = createRequire(import.meta.url);
    const file = resolve(`node-${process.platform}-${process.arch}/package.json`);
    return fileURLToPath(new URL("bin/node", `file://${file}`));
  } catch {
    return fail(
      `The room server needs Node 24.12 or later, this is ${process.version} (${process.execPath}).\n` +
        "Install a newer one from https://nodejs.org, or put it first in PATH.",
    );
  }
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}
