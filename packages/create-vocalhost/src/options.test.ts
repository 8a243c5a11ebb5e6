import assert from "node:assert/strict";
import { test } from "node:test";
import { startedBy } from "./config.ts";
import { parseOptions, UsageError } from "./options.ts";

test("without flags: a parrot, installed by whoever started us", () => {
  const options = parseOptions(["my-bot"], "pnpm");
  assert.deepEqual(options, {
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
  assert.equal(parseOptions([], "deno").packageManager, "npm");
  assert.equal(startedBy({ npm_config_user_agent: "pnpm/10.1.0 npm/? node/v24.12.0 linux x64" }), "pnpm");
  assert.equal(startedBy({}), undefined);
});

test("flags say the rest", () => {
  const args = ["-t", "assistant", "--no-install", "--package-manager", "yarn", "-y", "--json"];
  const options = parseOptions([...args, "--source", "vocalhost=file:../a=b.tgz"], undefined);
  assert.deepEqual([options.template, options.install, options.packageManager], ["assistant", false, "yarn"]);
  assert.deepEqual([options.isYes, options.isJson], [true, true]);
  assert.deepEqual(options.sources, { vocalhost: "file:../a=b.tgz" });
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
    assert.throws(() => parseOptions(args, undefined), UsageError, args.join(" "));
});
