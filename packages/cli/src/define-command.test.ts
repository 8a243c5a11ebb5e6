import assert from "node:assert/strict";
import { test } from "node:test";
import { Command } from "commander";
import { choice, flag, list, number, parseDurationMs, text } from "./command-option.ts";
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
  load: async () => ({
    run: async (options, context) => {
      seen.push(options);
      return context.isJson ? 7 : 0;
    },
  }),
});

async function run(...words: string[]): Promise<number | undefined> {
  let exitCode: number | undefined;
  const program = new Command("vocalhost").exitOverride().configureOutput({ writeErr: () => {} });
  command.addTo(program, async (body, isJson) => {
    exitCode = await body({ ui: undefined as never, isJson, signal: AbortSignal.timeout(1000) });
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
