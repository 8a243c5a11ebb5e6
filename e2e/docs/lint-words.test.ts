import assert from "node:assert/strict";
import { test } from "node:test";
import { lintText } from "../../scripts/lint-words.ts";

function check(name: string, text: string, expected: string[]): void {
  assert.deepEqual(
    lintText(name, text).map(({ line, rule }) => `${line} ${rule}`),
    expected,
    text,
  );
}

test("the lint for English finds the habits in pages", () => {
  check("a.md", "# What it does\n\nThe bot speaks.\nWhat it says is heard.\n", ["4 opener"]);
  check("a.md", "What does it do?\n\n- Nobody calls.\n", ["3 subject"]);
  check("a.md", `${"word ".repeat(31)}.\n\n\`\`\`ts\n// Nobody\n\`\`\`\n`, ["1 length"]);
  check("a.md", "| What is it |\n| --- |\n| Of the wall. |\n", ["3 opener", "3 retired"]);
  check("a.md", "Wall time and `nobody` are fine.\n", []);
});

test("the lint for English finds the habits in comments and messages", () => {
  check("a.ts", "/** What it says. */\nlet what = 1; // nobody reads it\n", ["1 opener", "2 subject"]);
  check("a.ts", "/**\n * Returns it.\n * Of all, the first.\n */\n", ["3 opener"]);
  check("a.ts", 'log.info("nobody is on the line");\nconst nobody = "nobody";\n', ["1 subject"]);
  check("a.ts", `// ${"word ".repeat(40)}\n`, []);
});
