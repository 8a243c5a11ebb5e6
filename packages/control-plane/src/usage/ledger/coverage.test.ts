import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test } from "node:test";

const folder = fileURLToPath(new URL(".", import.meta.url));

// Tests take every branch of the code that makes a bill.
test("every branch of the pure ledger is tested", async () => {
  const pure = ["length", "periods", "price", "usage"].map(
    (name) => `--test-coverage-include=**/ledger/${name}.ts`,
  );
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      "--conditions=@vocalhost/source",
      "--test",
      "--test-reporter=tap",
      "--experimental-test-coverage",
      "--test-coverage-branches=100",
      "--test-coverage-functions=100",
      "--test-coverage-lines=100",
      ...pure,
      `${folder}golden.test.ts`,
      `${folder}properties.test.ts`,
    ],
    // Without the parent's variables: the child must not take itself for one of the runner's own.
    { cwd: folder, env: {}, timeout: 60_000 },
  );
  for (const name of ["length.ts", "periods.ts", "price.ts", "usage.ts"]) {
    assert.match(stdout, new RegExp(`${name} +\\| 100.00 \\| +100.00 \\| +100.00`));
  }
});
