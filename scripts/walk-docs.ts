// The commands of every page in a fresh clone of what is committed and outside of it, on Node 20 and 24.
//   node --conditions=@vocalhost/source scripts/walk-docs.ts [--node 20]
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startTestPostgres } from "../packages/store/src/testing/test-postgres.ts";
import { walkEverything } from "./walk-docs/full-walk.ts";
import type { WalkedPage } from "./walk-docs/walk.ts";

const { values } = parseArgs({
  options: { node: { type: "string", multiple: true, default: ["20", "24"] } },
});
await using postgres = await startTestPostgres();
for (const node of values.node.map(Number)) {
  using folder = mkdtempDisposableSync(join(tmpdir(), `walk-${node}-`));
  const databaseUrls = [await postgres.newDatabase(), await postgres.newDatabase()];
  const pages = await walkEverything({ folder: folder.path, node, databaseUrls, walked: say });
  if (pages.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
}

function say(place: string, { page, commands, failure }: WalkedPage): void {
  const mark = failure === undefined ? "✔" : "✖";
  console.log(`${mark} ${place}: ${page}  ${commands} commands`);
  if (failure !== undefined) console.log(failure.replaceAll(/^/gm, "    "));
}
