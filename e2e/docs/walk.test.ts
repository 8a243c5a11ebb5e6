// The commands of every page, as a reader of it would give them. The usual size walks in this repository, with one service
// and without installing anything; the long one in a fresh clone and outside of it, on Node 20 and 24.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { layProject, startService, walkPages, type WalkedPage } from "../../scripts/walk-docs/walk.ts";
import { startTestPostgres } from "../../packages/control-plane/src/testing/test-postgres.ts";
import { walkEverything } from "../../scripts/walk-docs/full-walk.ts";
import { makeWorld } from "../../scripts/walk-docs/world.ts";
import { size } from "../../testing/sizes.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const PACKAGES = join(REPOSITORY, "node_modules");
const NPX = `#!/bin/sh
case $1 in
  vocalhost) shift; exec vocalhost "$@" ;;
  @vocalhost/rooms) shift; exec node --conditions=@vocalhost/source '${REPOSITORY}packages/rooms/src/main.ts' "$@" ;;
esac
echo "npx $1: not in this walk" >&2; exit 1
`;

test(
  "commands of the pages do what they say",
  { skip: size<false | string>(false, "the full walk has them all") },
  async () => {
    using temporary = mkdtempDisposableSync(join(tmpdir(), "walk-"));
    const programs = join(temporary.path, "programs");
    mkdirSync(programs);
    writeFileSync(join(programs, "npx"), NPX); // what it would find, without the second it takes to look
    chmodSync(join(programs, "npx"), 0o755);
    const [servicePort, runnerPort] = [await freePort(), await freePort()];
    const world = makeWorld({
      folder: temporary.path,
      clone: REPOSITORY,
      programs: [programs, join(PACKAGES, ".bin")],
      ...{ servicePort, runnerPort },
    });
    await using _service = await startService(world, "npm start", REPOSITORY);
    const walked = await walkPages(world, {
      isFull: false,
      readsTypes: true,
      projectFor: (page) =>
        layProject(join(temporary.path, page.replaceAll("/", "-")), {
          clone: REPOSITORY,
          packages: PACKAGES,
        }),
    });
    assert.deepEqual(failuresOf(walked), []);
    const commands = walked.reduce((sum, page) => sum + page.commands, 0);
    assert.ok(walked.length >= 8 && commands >= 40, `${commands} commands of ${walked.length} pages`);
  },
);

for (const node of [20, 24])
  test(
    `they do in a fresh clone and outside of it, on Node ${node}`,
    { skip: size(true, false) },
    async () => {
      using temporary = mkdtempDisposableSync(join(tmpdir(), `walk-${node}-`));
      await using postgres = await startTestPostgres();
      const databaseUrls = [await postgres.newDatabase(), await postgres.newDatabase()];
      const walked = await walkEverything({ folder: temporary.path, node, databaseUrls });
      assert.deepEqual(failuresOf(walked), []);
      assert.ok(walked.length >= 15, `${walked.length} pages`);
    },
  );

function failuresOf(walked: WalkedPage[]): string[] {
  return walked.flatMap(({ page, failure }) => (failure === undefined ? [] : [`${page}\n${failure}`]));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "localhost");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
