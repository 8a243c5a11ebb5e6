import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createBotFolder } from "../harness/bot-folder.ts";
import { runProgram } from "../harness/program.ts";
import { call } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket } from "../harness/socket-client.ts";

const SERVER = `import { main } from "vocalhost/runner"; await main();`;
const MARK = `import { writeFileSync } from "node:fs"; writeFileSync("was-run", "");`;

/** A bot that says its name in the close reason and is done. */
const named = (name: string): string =>
  `export async function bot(args: any) { args.websocket.close(4000, ${JSON.stringify(name)}); }`;

async function nameOfBot(port: number): Promise<string> {
  using client = await openSocket(`ws://localhost:${port}/ws-client`);
  return (await client.closed()).reason;
}

describe("finding the bot", { concurrency: 3 }, () => {
  const found: [string, Record<string, string>, { main: string; flags?: string[] }, string][] = [
    [
      "in the program itself, which awaits main()",
      { "my.ts": named("own") + SERVER },
      { main: "my.ts" },
      "own",
    ],
    [
      "in the program itself, which does not wait",
      { "my.ts": named("own") + SERVER.replace("await ", "void ") },
      { main: "my.ts" },
      "own",
    ],
    [
      "as default export",
      { "my.ts": `export default { ${named("default").replace("export async function ", "")} };${SERVER}` },
      { main: "my.ts" },
      "default",
    ],
    [
      "the program before bot.ts",
      { "my.ts": named("own") + SERVER, "bot.ts": MARK },
      { main: "my.ts" },
      "own",
    ],
    ["in bot.ts", { "server.ts": SERVER, "bot.ts": named("bot.ts") }, { main: "server.ts" }, "bot.ts"],
    [
      "in bot.js",
      { "server.ts": SERVER, "bot.js": named("bot.js").replace(": any", "") },
      { main: "server.ts" },
      "bot.js",
    ],
    [
      "in bot.mjs",
      { "server.ts": SERVER, "bot.mjs": named("bot.mjs").replace(": any", "") },
      { main: "server.ts" },
      "bot.mjs",
    ],
    [
      "in the file that was named after a list",
      { "server.ts": SERVER, "other.ts": named("other") },
      { main: "server.ts", flags: ["--ice-servers", "stun:stun.example.com:3478", "--", "other.ts"] },
      "other",
    ],
    [
      "in the file that was named",
      { "server.ts": SERVER, "bot.ts": MARK, "bots/other.ts": named("other") },
      { main: "server.ts", flags: ["bots/other.ts"] },
      "other",
    ],
  ];
  for (const [where, files, { main, flags = [] }, name] of found)
    test(where, async () => {
      using folder = createBotFolder(files);
      await using runner = await startRunnerProcess({
        bot: folder.bot(main),
        workingFolder: folder.path,
        flags,
      });
      assert.equal(await nameOfBot(runner.port), name);
      assert.ok(!existsSync(join(folder.path, "was-run")), "a file was run without being asked for");
    });

  const missing: [string, Record<string, string>, string[], RegExp][] = [
    [
      "no bot anywhere",
      { "server.ts": SERVER, "other.ts": MARK + named("other") },
      [],
      /No bot found\. Export an async function named "bot"/,
    ],
    [
      "a named file that is not there",
      { "server.ts": SERVER },
      ["absent.ts"],
      /No bot found: there is no file .*absent\.ts/,
    ],
    [
      "a named file without a bot",
      { "server.ts": SERVER, "empty.ts": "export const x = 1;" },
      ["empty.ts"],
      /empty\.ts exports no bot\. Add: export async function bot/,
    ],
    [
      "a bot that breaks when loaded",
      { "server.ts": SERVER, "bot.ts": `throw new Error("no key");` },
      [],
      /Error: no key/,
    ],
  ];
  for (const [what, files, args, message] of missing)
    test(what, async () => {
      using folder = createBotFolder(files);
      const options = { args: ["--port", "0", ...args], workingFolder: folder.path };
      const { code, output, errors } = await runProgram(join(folder.path, "server.ts"), options);
      assert.equal(code, 1, output + errors);
      assert.match(errors, message);
      assert.doesNotMatch(output, /Talk to it/);
      assert.ok(!existsSync(join(folder.path, "was-run")), "a file was run without being asked for");
    });

  test("until it is loaded clients are told to come again", async () => {
    const gate = `import { existsSync } from "node:fs"; import { setTimeout } from "node:timers/promises";
      while (!existsSync("go")) await setTimeout(20);`;
    using folder = createBotFolder({
      "server.ts": `${SERVER} console.log("listens on", (await import("vocalhost/runner")).app.server.address().port)`,
      "bot.ts": gate + named("late"),
    });
    const { spawnRunner } = await import("../harness/runner-process.ts");
    await using runner = spawnRunner({ bot: folder.bot("server.ts"), workingFolder: folder.path });
    const [, port] = await runner.printed(/listens on (\d+)/);
    for (const transport of ["webrtc", "websocket"]) {
      const early = await call(Number(port), "POST /start", { body: { transport } });
      assertRefused(early, "BOT_NOT_READY");
      assert.equal(early.headers["retry-after"], "1");
    }
    const { writeFileSync } = await import("node:fs");
    writeFileSync(join(folder.path, "go"), "");
    await runner.printed(/Talk to it/);
    assert.equal(await nameOfBot(Number(port)), "late");
  });
});

describe("the working folder's .env", { concurrency: 2 }, () => {
  test("wins over the environment, but the bot always runs locally", async () => {
    using folder = createBotFolder({
      ".env": `VOCALHOST_TRANSPORT=webrtc\nENV=production\nQUOTED="two words"\nSHARED=file\n`,
    });
    const environment = { VOCALHOST_TRANSPORT: "websocket", SHARED: "process", ONLY: "process" };
    await using runner = await startRunnerProcess({
      bot: "e2e/bots/probe-bot.ts",
      workingFolder: folder.path,
      environment,
    });
    assert.deepEqual((await call(runner.port, "GET /status")).json().transports, ["webrtc"]);
    const value = async (name: string) => (await call(runner.port, `GET /variable/${name}`)).json().value;
    assert.deepEqual(
      [await value("ENV"), await value("SHARED"), await value("ONLY"), await value("QUOTED")],
      ["local", "file", "process", "two words"],
    );
  });

  test("of another folder is not read", async () => {
    using folder = createBotFolder({
      "bots/.env": "VOCALHOST_TRANSPORT=webrtc",
      "bots/my.ts": named("own") + SERVER,
    });
    await using runner = await startRunnerProcess({
      bot: folder.bot("bots/my.ts"),
      workingFolder: folder.path,
    });
    assert.equal(await nameOfBot(runner.port), "own");
  });
});

test("a route that the runner has already is a clear error", async () => {
  using folder = createBotFolder({
    "my.ts": `import { app } from "vocalhost/runner"; app.get("/status", async () => 1); ${named("own")} ${SERVER}`,
  });
  const { code, errors } = await runProgram(join(folder.path, "my.ts"), {
    args: ["--port", "0"],
    workingFolder: folder.path,
  });
  assert.equal(code, 1);
  assert.match(errors, /One of your routes has the same path as a route of the runner/);
});
