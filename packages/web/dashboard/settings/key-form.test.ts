import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyKeyForm, isComplete, keyProblems, toCreateKey } from "./key-form.ts";

test("what is left empty is not limited", () => {
  const form = { ...emptyKeyForm, name: " web site " };
  assert.ok(isComplete(form));
  assert.deepEqual(toCreateKey("public", form), { type: "public", name: "web site" });
  assert.deepEqual(
    toCreateKey("public", { ...form, agents: ["a"], ratePerMinute: "60", concurrency: " 5 " }),
    {
      type: "public",
      name: "web site",
      agents: ["a"],
      ratePerMinute: 60,
      concurrency: 5,
    },
  );
  assert.deepEqual(toCreateKey("private", { ...form, ratePerMinute: "60" }), {
    type: "private",
    name: "web site",
  });
});

test("a form that makes no sense is not sent", () => {
  assert.ok(!isComplete(emptyKeyForm));
  assert.ok(!isComplete({ ...emptyKeyForm, name: "x", agents: [] }), "no agent at all");
  for (const odd of ["0", "-1", "1.5", "x", "1000001", "99999999"]) {
    assert.ok(!isComplete({ ...emptyKeyForm, name: "x", ratePerMinute: odd }), odd);
    assert.ok(keyProblems({ ...emptyKeyForm, concurrency: odd }).concurrency, odd);
  }
});
