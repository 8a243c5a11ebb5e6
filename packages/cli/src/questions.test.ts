import assert from "node:assert/strict";
import { test } from "node:test";
import { askFor, choose, confirm } from "./questions.ts";
import type { Ui } from "./ui.ts";

const asker = {
  ui: { isTerminal: false } as Ui,
  isYes: false,
  isJson: false,
  signal: new AbortController().signal,
};

test("--yes answers, and where nobody can answer the flag is named", async () => {
  assert.equal(await confirm({ ...asker, isYes: true }, "Delete it?"), true);
  const usage = { name: "Problem", exitCode: 2 };
  await assert.rejects(confirm(asker, "Delete it?"), {
    ...usage,
    fixes: ["Answer all questions with yes: --yes"],
  });
  await assert.rejects(askFor({ ...asker, isYes: true }, { message: "Name?", flag: "--name" }), {
    ...usage,
    fixes: ["Give it with --name."],
  });
  await assert.rejects(choose(asker, { message: "Which?", flag: "--region", options: ["a"] }), {
    ...usage,
    fixes: ["Choose with --region."],
  });
});
