import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compileKernel } from "../build-kernel.ts";

test("the kernel that ships is what its sources compile to", () => {
  const shipped = readFileSync(new URL("../wasm/viva.wasm", import.meta.url));
  assert.ok(
    compileKernel().equals(shipped),
    "run node packages/viva/build-kernel.ts and commit wasm/viva.wasm",
  );
});
