// The commands of the pages, as a reader of them would give them. The usual size walks the README in this repository, without
// installing anything; the long one every page, here, in a fresh clone and outside of it, on Node 20 and 24.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  layProject,
  runShell,
  startService,
  walkPages,
  type WalkedPage,
} from "../../scripts/walk-docs/walk.ts";
import { startTestPostgres } from "../../packages/store/src/testing/test-postgres.ts";
import { walkEverything } from "../../scripts/walk-docs/full-walk.ts";
import { makeWorld, type World } from "../../scripts/walk-docs/world.ts";
import { size } from "../../testing/sizes.ts";
import { proxies } from "./proxies.ts";
import { freePort } from "../../testing/free-port.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const PACKAGES = join(REPOSITORY, "node_modules");
const NPX = `#!/bin/sh
case $1 in
  vocalhost) shift; exec vocalhost "$@" ;;
  vocalhost-rooms) exec node '${REPOSITORY}packages/rooms/bin/vocalhost-rooms.js' ;;
esac
echo "npx $1: not in this walk" >&2; exit 1
`;

describe("the pages", () => {
  const stack = new AsyncDisposableStack();
  let world: World;
  before(async () => {
    const folder = stack.use(mkdtempDisposableSync(join(tmpdir(), "walk-"))).path;
    const shims = join(folder, "programs");
    mkdirSync(shims);
    writeFileSync(join(shims, "npx"), NPX); // what it would find, without the second it takes to look
    chmodSync(join(shims, "npx"), 0o755);
    const [servicePort, runnerPort] = [await freePort(), await freePort()];
    const programs = [shims, join(PACKAGES, ".bin")];
    world = makeWorld({ folder, clone: REPOSITORY, programs, servicePort, runnerPort });
    stack.use(await startService(world, "npm start", REPOSITORY));
  });
  after(() => stack.disposeAsync());

  test("their commands do what they say", async () => {
    const walked = await walkPages(world, {
      isFull: false,
      readsTypes: true,
      isWanted: (page) => size(page === "README.md", true),
      projectFor: (page) =>
        layProject(join(world.folder, page.replaceAll("/", "-")), { clone: REPOSITORY, packages: PACKAGES }),
    });
    assert.deepEqual(failuresOf(walked), []);
    const commands = walked.reduce((sum, page) => sum + page.commands, 0);
    const isAll = walked.length >= size(1, 8) && commands >= size(2, 40);
    assert.ok(isAll, `${commands} commands of ${walked.length} pages`);
  });

  // The page of carriers has deployed the agent, for streams without a token.
  for (const [name, start] of Object.entries(proxies))
    test(
      `a carrier's stream comes through ${name}, set up as the page of servers says`,
      { skip: size(true, false) },
      async (t) => {
        if (spawnSync(name, ["-v"]).error) return t.skip(`no ${name} here`);
        const folder = join(world.folder, name);
        mkdirSync(folder);
        const port = await freePort();
        await using proxy = await start({
          repository: REPOSITORY,
          folder,
          port,
          servicePort: world.servicePort,
        });
        const to = ["--to", `wss://localhost:${port}/ws/twilio`, "--parameter", "_serviceHost=my-bot.main"];
        const call = ["vocalhost", "call", ...to, "--hang-up-after-silence", "5s", "--expect-audio"];
        const environment = { ...world.environment, NODE_EXTRA_CA_CERTS: proxy.certificate };
        const { code, output } = await runShell(call, { folder, environment, maxMs: 120_000 });
        assert.equal(code, 0, output);
      },
    );
});

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
