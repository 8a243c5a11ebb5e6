import assert from "node:assert/strict";
import { test } from "node:test";
import { baseVersionOf, hasFilter } from "./base-version.ts";

test("the filter is in the base since 0.1.8", () => {
  const versions: [string, boolean][] = [
    ["0.1.7", false],
    ["0.1.8", true],
    ["0.1.8-rc.1", false],
    ["0.1.9-rc.1", true],
    ["0.1.10", true],
    ["0.2.0", true],
    ["1.0.0", true],
    ["0.0.99", false],
    ["v0.2.0", true],
    ["latest", true],
    ["0.2", false],
    ["nightly", false],
  ];
  for (const [version, expected] of versions) assert.equal(hasFilter(version), expected, version);
  assert.equal(baseVersionOf("vocalhost/base:0.1.8"), "0.1.8");
  assert.equal(baseVersionOf(`docker.io/vocalhost/base:0.1.8@sha256:${"0".repeat(64)}`), "0.1.8");
  assert.equal(baseVersionOf("acme/base:0.1.8"), undefined);
});
