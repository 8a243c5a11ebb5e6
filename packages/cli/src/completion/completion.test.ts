import { Command } from "commander";
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { test } from "node:test";
import { choice, flag, text, word, wordOf } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { shells, toCommandNode } from "./command-node.ts";
import { completionScript } from "./completion-script.ts";

const load = (): never => {
  throw new Error("completion runs nothing");
};
const program = new Command("vocalhost");
const shared = { description: "It's one.", examples: [{ line: "x", about: "y" }], load };
for (const command of [
  defineCommand({
    ...{ ...shared, name: "call", summary: "call: a bot's number" },
    options: {
      carrier: choice({ values: ["twilio", "telnyx"], default: "twilio", help: "who", short: "c" }),
    },
  }),
  defineCommand({
    ...{ ...shared, name: "secrets set", summary: "set $HOME" },
    arguments: { name: word({ help: "its name" }) },
    options: { file: text({ help: "where" }), force: flag({ help: "even so" }) },
  }),
  defineCommand({
    ...{ ...shared, name: "completion", summary: "print" },
    arguments: { shell: wordOf({ values: shells, help: "which" }) },
    options: {},
  }),
])
  command.addTo(program, async () => undefined);
const tree = toCommandNode(program);

function complete(line: string): string[] {
  const words = line.split(" ");
  const script = `${completionScript("bash", tree)}
COMP_WORDS=(${words.map((part) => `'${part}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _vocalhost
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\n").filter(Boolean);
}

test("bash completes commands, options and values", () => {
  const table: [string, string[]][] = [
    ["vocalhost c", ["call", "completion"]],
    ["vocalhost secrets ", ["set", "--help"]],
    ["vocalhost secrets set my-set --f", ["--file", "--force"]],
    ["vocalhost call --ca", ["--carrier"]],
    ["vocalhost call -c t", ["twilio", "telnyx"]],
    ["vocalhost call --carrier te", ["telnyx"]],
    ["vocalhost completion ", ["bash", "zsh", "fish", "--json", "--yes", "--help"]],
    ["vocalhost secrets set --file ", []], // bash's own: files
  ];
  for (const [line, words] of table) assert.deepEqual(complete(line), words, line);
});

test("every shell that is here can read its script", () => {
  for (const shell of shells) {
    const script = completionScript(shell, tree);
    assert.match(script, /twilio/);
    assert.ok(!script.includes("It's"));
    const { status, error } = spawnSync(shell, ["-n"], { input: script });
    if (!error) assert.equal(status, 0, shell);
  }
});
