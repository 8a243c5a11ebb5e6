import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { settings } from "../../packages/control-plane/src/main/config.ts";
import { settingsFiles } from "../../scripts/write-settings.ts";

test("documentation and chart say what the rows of the settings say; npm run settings writes them", () => {
  const files = settingsFiles();
  // Whitespace and the dashes below a table's head are the formatter's.
  const plain = (text: string): string => text.replaceAll(/\s+|(?<=\|[ -]*)-+/g, "");
  for (const [path, { text }] of files)
    assert.equal(
      plain(readFileSync(join(resolve(import.meta.dirname, "../.."), path), "utf8")),
      plain(text),
      path,
    );
  const shown = [...files.values()].flatMap(({ groups }) => groups);
  assert.deepEqual(shown.toSorted(), Object.keys(settings).toSorted());
});
