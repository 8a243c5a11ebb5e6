import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { BotNotFoundError, loadBot, type BotPlaces } from "./load-bot.ts";

const BOT = `export async function bot() { return "BOT"; }`;

test("the program that was started comes first, then the usual names", async () => {
  await check({
    files: { "main.ts": named("main"), "bot.ts": named("bot") },
    main: "main.ts",
    loads: "main",
  });
  await check({ files: { "main.ts": "", "bot.ts": named("bot.ts") }, main: "main.ts", loads: "bot.ts" });
  await check({ files: { "bot.js": named("bot.js"), "bot.mjs": named("bot.mjs") }, loads: "bot.js" });
  await check({ files: { "bot.mjs": named("bot.mjs") }, loads: "bot.mjs" });
  await check({ files: { "bot.ts": named("bot.ts"), "bot.js": named("bot.js") }, loads: "bot.ts" });
  await check({ files: { "bot.ts": named("bot.ts") }, main: "gone.ts", loads: "bot.ts" });
});

test("a file the user names is the bot, whatever else is there", async () => {
  const files = { "main.ts": named("main"), "bot.ts": named("bot"), "other.ts": named("other") };
  await check({ files, main: "main.ts", path: "other.ts", loads: "other" });
});

test("a program started through a link is itself", async () => {
  using folder = temporaryFolder({ "main.ts": named("main") });
  symlinkSync(join(folder.path, "main.ts"), join(folder.path, "link.ts"));
  const { bot } = await loadBot({ mainPath: join(folder.path, "link.ts"), workingFolder: folder.path });
  assert.equal(await (bot as () => Promise<unknown>)(), "main");
});

test("a bot comes as a function or as a definition", async () => {
  const whole = `export default { prewarm() {}, readyz: () => true, async bot() { return "BOT"; } };`;
  const parts = `${BOT} export function prewarm() {} export const readyz = () => true;`;
  for (const text of [whole, parts]) {
    using folder = temporaryFolder({ "bot.ts": text });
    const definition = await loadBot({ mainPath: undefined, workingFolder: folder.path });
    assert.equal(typeof definition.prewarm, "function");
    assert.equal(await definition.readyz?.(), true);
  }
  using folder = temporaryFolder({ "bot.ts": BOT });
  assert.deepEqual(Object.keys(await loadBot({ mainPath: undefined, workingFolder: folder.path })), ["bot"]);
});

test("a default export of another kind does not hide the bot", async () => {
  const text = `${BOT} export default { name: "settings" };`;
  await check({ files: { "bot.ts": text }, loads: "BOT" });
});

test("what is missing is said in words that help", async () => {
  await refuses({ files: {} }, /^No bot found\. Export an async function named "bot"/);
  await refuses(
    { files: { "main.ts": "" }, main: "main.ts" },
    /No bot found\..*main\.ts.*bot\.ts, bot\.js, bot\.mjs/,
  );
  await refuses({ files: {}, path: "gone.ts" }, /^No bot found: there is no file .*gone\.ts$/);
  await refuses({ files: { "x.ts": "export const bot = 5;" }, path: "x.ts" }, /x\.ts exports no bot\. Add: /);
  await refuses({ files: { "bot.ts": "" } }, /bot\.ts exports no bot/);
  await refuses({ files: { "bot.ts": "" }, main: "bot.ts" }, /^No bot found\./);
});

test("a bot file that breaks tells its own error", async () => {
  using folder = temporaryFolder({ "bot.ts": `throw new Error("no microphone");` });
  await assert.rejects(loadBot({ mainPath: undefined, workingFolder: folder.path }), /no microphone/);
});

interface Case {
  files: Record<string, string>;
  main?: string;
  path?: string;
}

async function check({ loads, ...files }: Case & { loads: string }): Promise<void> {
  using folder = temporaryFolder(files.files);
  const { bot } = await loadBot(placesOf(files, folder.path));
  assert.equal(await (bot as () => Promise<unknown>)(), loads);
}

async function refuses(files: Case, text: RegExp): Promise<void> {
  using folder = temporaryFolder(files.files);
  await assert.rejects(loadBot(placesOf(files, folder.path)), (error) => {
    assert.ok(error instanceof BotNotFoundError, String(error));
    assert.match(error.message, text);
    return true;
  });
}

function placesOf({ main, path }: Case, folder: string): BotPlaces {
  return { path, mainPath: main && join(folder, main), workingFolder: folder };
}

function named(name: string): string {
  return BOT.replace("BOT", name);
}

function temporaryFolder(files: Record<string, string>): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "load-bot-"));
  for (const [name, text] of Object.entries({ "package.json": `{"type":"module"}`, ...files }))
    writeFileSync(join(path, name), text);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
