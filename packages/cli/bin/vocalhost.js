#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read too: they start the Node that comes with us.
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 12)) await runWithOwnNode();

// In the repository there are sources and nothing is built; the published package has only `dist`.
const sources = new URL("../src/main.ts", import.meta.url);
const isRepository = existsSync(sources);
if (isRepository) {
  nodeModule.registerHooks({
    resolve: (specifier, context, nextResolve) =>
      nextResolve(specifier, { ...context, conditions: ["@vocalhost/source", ...context.conditions] }),
  });
}
const { main } = await import(isRepository ? sources.href : new URL("../dist/main.js", import.meta.url).href);
process.exitCode = await main(process.argv.slice(2));

/** Never returns. */
async function runWithOwnNode() {
  const node = ownNode();
  if (node === undefined) {
    process.stderr.write(
      `vocalhost needs Node 24.12 or later, this is ${process.version} (${process.execPath}).\n` +
        "Install a newer one from https://nodejs.org, or put it first in PATH.\n",
    );
    process.exit(2);
  }
  const { spawn } = await import("node:child_process");
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  process.on("SIGINT", () => {}); // the terminal's Ctrl-C reaches it too
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  await new Promise((resolve) => {
    child.on("error", (error) => {
      process.stderr.write(`${node} cannot be started: ${error.message}\n`);
      resolve(process.exit(2));
    });
    child.on("exit", (code, signal) => resolve(process.exit(signal ? 1 : (code ?? 1))));
  });
}

/** From the npm package for this machine, which exists for Linux. */
function ownNode() {
  try {
    const { resolve } = nodeModule.createRequire(import.meta.url);
    const file = resolve(`node-${process.platform}-${process.arch}/package.json`);
    return fileURLToPath(new URL("bin/node", `file://${file}`));
  } catch {
    return undefined;
  }
}
