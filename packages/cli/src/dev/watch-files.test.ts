import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isCode, watchFiles } from "./watch-files.ts";

const root = mkdtempSync(join(tmpdir(), "vocalhost-watch-"));
after(() => rmSync(root, { recursive: true, force: true }));

const SOON_MS = 20_000;

/** A folder that is watched; `next` gives the names of the next files that changed. */
async function watched(more: string[] = []) {
  const folder = mkdtempSync(join(root, "bot-"));
  for (const inner of ["node_modules/x", "dist", ".git", "lib"])
    mkdirSync(join(folder, inner), { recursive: true });
  writeFileSync(join(folder, "bot.ts"), "1");
  for (const path of more) writeFileSync(join(folder, path), "1");
  let changes: string[] = [];
  let wake = Promise.withResolvers<void>();
  const watcher = await watchFiles({
    folder,
    more: more.map((path) => join(folder, path)),
    onChange(paths) {
      changes = paths;
      wake.resolve();
    },
    onError: (error) => wake.reject(error),
  });
  return {
    folder,
    async next(): Promise<string[]> {
      const timer = setTimeout(() => wake.reject(new Error("nothing was noticed")), SOON_MS);
      await wake.promise;
      clearTimeout(timer);
      wake = Promise.withResolvers();
      return changes.map((path) => path.slice(folder.length + 1)).sort();
    },
    [Symbol.asyncDispose]: () => watcher[Symbol.asyncDispose](),
  };
}

test("notices every save, in place and by rename, here and below", async () => {
  await using bot = await watched();
  for (let round = 0; round < 4; round += 1) {
    writeFileSync(join(bot.folder, "bot.ts.tmp~"), `rename ${round}`);
    renameSync(join(bot.folder, "bot.ts.tmp~"), join(bot.folder, "bot.ts"));
    assert.deepEqual(await bot.next(), ["bot.ts"]);
    writeFileSync(join(bot.folder, "bot.ts"), `in place ${round}`);
    assert.deepEqual(await bot.next(), ["bot.ts"]);
  }
  writeFileSync(join(bot.folder, "lib/new.ts"), "1");
  assert.deepEqual(await bot.next(), ["lib/new.ts"]);
  rmSync(join(bot.folder, "lib/new.ts"));
  assert.deepEqual(await bot.next(), ["lib/new.ts"]);
  writeFileSync(join(bot.folder, ".env"), "A=1");
  assert.deepEqual(await bot.next(), [".env"]);
});

test("what is no code, or not the bot's, is left alone; what was named is not", async () => {
  await using bot = await watched(["prompt.md"]);
  for (const path of [
    "node_modules/x/index.js",
    "dist/bot.js",
    ".git/x.ts",
    "call.wav",
    "notes.md",
    "lib/log.txt",
  ])
    writeFileSync(join(bot.folder, path), "1");
  writeFileSync(join(bot.folder, "prompt.md"), "2");
  assert.deepEqual(await bot.next(), ["prompt.md"]);
});

test("knows what bots are made of", () => {
  for (const name of ["bot.ts", "a.mts", "b.cjs", "c.tsx", "d.json", ".env"])
    assert.ok(isCode(`/x/${name}`), name);
  for (const name of ["a.wav", "b.ts~", ".bot.ts.swp", "4913", "c.md", ".env.example"])
    assert.ok(!isCode(`/x/${name}`), name);
});
