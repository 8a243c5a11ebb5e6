import assert from "node:assert/strict";
import { test } from "node:test";
import { Command } from "commander";
import {
  choice,
  flag,
  list,
  negatedFlag,
  number,
  optionalWord,
  parseDurationMs,
  text,
  word,
  words,
} from "./command-option.ts";
import { defineCommand } from "./define-command.ts";

const seen: unknown[] = [];
const command = defineCommand({
  name: "secrets set",
  summary: "set one",
  description: "Sets one secret.",
  options: {
    kind: choice({ values: ["plain", "file"], default: "plain", help: "what it is", short: "k" }),
    fileName: text({ help: "where it is" }),
    tag: list({ help: "labels" }),
    wait: number({ parse: parseDurationMs, help: "how long" }),
    force: flag({ help: "even if" }),
  },
  examples: [{ line: "vocalhost secrets set", about: "sets it" }],
  load: async () => async (options, context) => {
    seen.push(options);
    return context.isJson ? 7 : 0;
  },
});

async function run(...words: string[]): Promise<number | undefined> {
  let exitCode: number | undefined;
  const program = new Command("vocalhost").exitOverride().configureOutput({ writeErr: () => {} });
  command.addTo(program, async (body, options) => {
    const signal = AbortSignal.timeout(1000);
    exitCode = await body({ ...options, signal, ui: undefined as never, tree: undefined as never });
  });
  await program.parseAsync(words, { from: "user" });
  return exitCode;
}

test("noun and verb become nested commands with typed options", async () => {
  seen.length = 0;
  assert.equal(await run("secrets", "set"), 0);
  assert.equal(
    await run(
      ...[
        "secrets",
        "set",
        "-k",
        "file",
        "--file-name",
        "x",
        "--tag",
        "a",
        "--tag",
        "b",
        "--wait",
        "2s",
        "--force",
      ],
      "--json",
    ),
    7,
  );
  assert.deepEqual(seen, [
    { kind: "plain", tag: [] },
    { kind: "file", fileName: "x", tag: ["a", "b"], wait: 2000, force: true, json: true },
  ]);
});

test("values that cannot be are refused before anything runs", async () => {
  seen.length = 0;
  for (const words of [["--kind", "odd"], ["--wait", "long"], ["--unknown"], ["word"]])
    await assert.rejects(run("secrets", "set", ...words), { name: "CommanderError" });
  assert.deepEqual(seen, []);
});

test("words are values too, and a command may take what it does not know", async () => {
  const runs: unknown[] = [];
  const made = defineCommand({
    name: "put",
    summary: "put",
    description: "Puts.",
    arguments: {
      where: word({ help: "where" }),
      kind: optionalWord({ help: "kind" }),
      rest: words({ help: "more" }),
    },
    options: { open: negatedFlag({ help: "no" }) },
    examples: [{ line: "x", about: "y" }],
    load:
      async () =>
      async ({ where, kind, rest, open }) =>
        runs.push([where, kind, rest, open]),
  });
  const eager = defineCommand({
    name: "eager",
    summary: "eager",
    description: "Takes all.",
    options: { port: text({ help: "port" }) },
    takesTheRest: true,
    examples: [{ line: "x", about: "y" }],
    load:
      async () =>
      async ({ port }, { rest, isYes }) =>
        runs.push([port, rest, isYes]),
  });
  const lines = [
    "put a",
    "put a b c d --no-open",
    "eager bot.ts -t x --port 7 --my-flag --yes",
    "eager -x bot.ts",
  ];
  for (const line of lines) {
    const program = new Command("vocalhost").exitOverride();
    for (const command of [made, eager])
      command.addTo(program, async (body, options) => {
        const nobody = {
          ui: undefined as never,
          tree: undefined as never,
          signal: AbortSignal.timeout(1000),
        };
        await body({ ...options, ...nobody });
      });
    await program.parseAsync(line.split(" "), { from: "user" });
  }
  assert.deepEqual(runs, [
    ["a", undefined, [], true],
    ["a", "b", ["c", "d"], false],
    ["7", ["bot.ts", "-t", "x", "--my-flag"], true],
    [undefined, ["-x", "bot.ts"], false],
  ]);
});
