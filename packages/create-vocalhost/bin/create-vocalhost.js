#!/usr/bin/env node
// Plain JavaScript that old versions of Node can read too, so that they can be told.
import { existsSync } from "node:fs";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 12)) {
  process.stderr.write(
    `npm create vocalhost needs Node 20.12 or later, this is ${process.version} (${process.execPath}).\n` +
      "Install a newer one from https://nodejs.org, or put it first in PATH.\n",
  );
  process.exit(2);
}

// In the repository there are sources and nothing is built; the published package has only `dist`.
const sources = new URL("../src/main.ts", import.meta.url);
const { main } = await import(
  existsSync(sources) ? sources.href : new URL("../dist/main.js", import.meta.url).href
);
process.exitCode = await main(process.argv.slice(2));
