import assert from "node:assert/strict";
import { test } from "node:test";
import { inheritedArguments } from "./inherited-arguments.ts";

test("conditions are passed on, in every form, and nothing else", () => {
  assert.deepEqual(
    inheritedArguments(["--conditions=a", "--inspect", "-C", "b", "--conditions", "c", "--test"]),
    ["--conditions=a", "-C", "b", "--conditions", "c"],
  );
  assert.deepEqual(inheritedArguments([]), []);
});
