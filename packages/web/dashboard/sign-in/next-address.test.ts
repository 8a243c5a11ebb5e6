import assert from "node:assert/strict";
import { test } from "node:test";
import { nextAddress } from "./enter.ts";

test("only addresses of this page are followed after signing in", () => {
  const next = (value: string) => nextAddress(`?next=${encodeURIComponent(value)}`);
  assert.equal(next("/agents/parrot?status=ended"), "/agents/parrot?status=ended");
  assert.equal(next("/device?user_code=ABCD"), "/device?user_code=ABCD");
  for (const odd of [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "javascript:alert(1)",
    "",
    "/sign-in",
  ])
    assert.equal(next(odd), "/agents", odd);
  assert.equal(nextAddress(""), "/agents");
});
