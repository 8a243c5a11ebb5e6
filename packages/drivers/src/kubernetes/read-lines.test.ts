import assert from "node:assert/strict";
import { test } from "node:test";
import { readLines } from "./read-lines.ts";

const check = (
  what: string,
  options: { chunks: (string | Buffer)[]; max?: number; expect: string[] },
): void => {
  test(what, async () => {
    const bytes = async function* () {
      for (const chunk of options.chunks) yield Buffer.from(chunk as string);
    };
    const lines: string[] = [];
    for await (const line of readLines(bytes(), options.max ?? 100)) lines.push(line);
    assert.deepEqual(lines, options.expect);
  });
};

check("lines do not mind how they are cut", {
  chunks: ["on", "e\ntw", "o\n\nthree"],
  expect: ["one", "two", "", "three"],
});
const [first, second] = [Buffer.from("ä\n").subarray(0, 1), Buffer.from("ä\n").subarray(1)];
check("nor do letters", { chunks: [first, second], expect: ["ä"] });
check("what is too long is cut, and the next line is whole", {
  chunks: ["abc", "def", "ghi\nok\n"],
  max: 4,
  expect: ["abcd", "ok"],
});
