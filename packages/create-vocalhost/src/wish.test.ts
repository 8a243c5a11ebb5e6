import assert from "node:assert/strict";
import { test } from "node:test";
import { startedBy } from "./config.ts";
import { parseWish, UsageError } from "./wish.ts";

test("without flags: a parrot, installed by whoever started us", () => {
  const wish = parseWish(["my-bot"], "pnpm");
  assert.deepEqual(wish, {
    folder: "my-bot",
    template: "parrot",
    install: true,
    packageManager: "pnpm",
    isYes: false,
    isJson: false,
    wantsHelp: false,
    wantsVersion: false,
    sources: {},
  });
  assert.equal(parseWish([], "deno").packageManager, "npm");
  assert.equal(startedBy({ npm_config_user_agent: "pnpm/10.1.0 npm/? node/v24.12.0 linux x64" }), "pnpm");
  assert.equal(startedBy({}), undefined);
});

test("flags say the rest", () => {
  const args = ["-t", "assistant", "--no-install", "--package-manager", "yarn", "-y", "--json"];
  const wish = parseWish([...args, "--source", "vocalhost=file:../a=b.tgz"], undefined);
  assert.deepEqual([wish.template, wish.install, wish.packageManager], ["assistant", false, "yarn"]);
  assert.deepEqual([wish.isYes, wish.isJson], [true, true]);
  assert.deepEqual(wish.sources, { vocalhost: "file:../a=b.tgz" });
});

test("what cannot be meant is refused", () => {
  for (const args of [
    ["a", "b"],
    ["--template", "cat"],
    ["--package-manager", "cargo"],
    ["--source", "vocalhost"],
    ["--source", "=x"],
    ["--tempate"],
    ["--template"],
  ])
    assert.throws(() => parseWish(args, undefined), UsageError, args.join(" "));
});
