import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { OUTPUT_FILE } from "./output-file.ts";
import { createOutputReader } from "./output-reader.ts";

test("a silent instance is not asked for again, until it prints", async () => {
  using output = start();
  output.print("one\n");
  assert.deepEqual(await output.read(0), ["one"]);
  assert.deepEqual(await output.read(4), []);
  const asked = output.asked();
  for (let round = 0; round < 10; round += 1) assert.deepEqual(await output.read(4), []);
  assert.equal(output.asked(), asked);
  output.print("two\n");
  assert.deepEqual(await output.read(4), ["two"]);
});

test("a line that nobody will finish is given once its instance has ended", async () => {
  using output = start();
  output.print("half");
  assert.deepEqual(await output.read(0), []);
  assert.deepEqual(await output.read(0), []);
  output.end();
  assert.deepEqual(await output.read(0), ["half"]);
});

test("lines that could not be stored are given again", async () => {
  using output = start();
  output.print("one\n");
  assert.deepEqual(await output.read(0), ["one"]);
  assert.deepEqual(await output.read(4), []);
  assert.deepEqual(await output.read(0), ["one"]);
});

function start() {
  const folder = mkdtempSync(join(tmpdir(), "output-"));
  let isRunning = true;
  let asked = 0;
  const reader = createOutputReader({
    async isRunning() {
      asked += 1;
      return isRunning;
    },
  });
  return {
    print: (text: string) => appendFileSync(join(folder, OUTPUT_FILE), text),
    end: () => void (isRunning = false),
    asked: () => asked,
    read: async (position: number) =>
      (await reader.read("instance", folder, position)).lines.map(({ text }) => text),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
