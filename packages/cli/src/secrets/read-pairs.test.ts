import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readPairs } from "./read-pairs.ts";

const folder = mkdtempSync(join(tmpdir(), "vocalhost-pairs-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "secrets.env");

test("the first = separates, quotes and comments go", async () => {
  writeFileSync(file, '# note\n\nA=1=2\r\n B = " two words "\nC-d=x\n');
  const expected = [
    ["A", "1=2"],
    ["B", " two words "],
    ["C-d", "x"],
  ];
  assert.deepEqual(
    (await readPairs([], file)).map(({ secretKey, secretValue }) => [secretKey, secretValue]),
    expected,
  );
  assert.deepEqual(await readPairs(["A=b=c"], undefined), [{ secretKey: "A", secretValue: "b=c" }]);
});

test("what is wrong is named without the secret", async () => {
  const rows: [string[], string | undefined, RegExp][] = [
    [["A=1"], "file", /cannot be used together/],
    [[], undefined, /No secrets/],
    [["hunter2"], undefined, /^"…": there is no "="/],
    [["=hunter2"], undefined, /cannot be a key/],
    [["A B=hunter2"], undefined, /"A B" cannot be a key/],
    [[`${"K".repeat(65)}=hunter2`], undefined, /cannot be a key/],
    [["A="], undefined, /A has no value/],
  ];
  for (const [words, path, message] of rows)
    await assert.rejects(readPairs(words, path), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
  await assert.rejects(readPairs([], join(folder, "none")), { code: "file_unreadable" });
});
