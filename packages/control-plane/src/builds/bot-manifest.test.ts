import assert from "node:assert/strict";
import { test } from "node:test";
import { fitsWanted } from "./bot-manifest.ts";

test("versions fit the ranges npm would take them for", () => {
  const cases: [string, string, boolean | undefined][] = [
    ["0.1.0", "^0.1.0", true],
    ["0.1.4", "^0.1.0", true],
    ["0.2.0", "^0.1.0", false],
    ["0.1.0", "^0.1.1", false],
    ["1.9.0", "^1.2.3", true],
    ["2.0.0", "^1.2.3", false],
    ["0.0.3", "^0.0.3", true],
    ["0.0.4", "^0.0.3", false],
    ["0.4.0", "^0", true],
    ["0.1.9", "~0.1.2", true],
    ["0.2.0", "~0.1.2", false],
    ["1.5.0", "~1", true],
    ["0.1.0", "0.1.0", true],
    ["0.1.1", "0.1.0", false],
    ["0.1.1", "0.1", true],
    ["0.1.1", "0.1.x", true],
    ["0.2.0", "0.1.x", false],
    ["0.2.0", ">=0.1.0 <0.3.0", true],
    ["0.3.0", ">=0.1.0 <0.3.0", false],
    ["0.2.0", ">= 0.1.0", true],
    ["0.1.0", ">0.1.0", false],
    ["0.1.9", ">0.1", false],
    ["0.2.0", ">0.1", true],
    ["0.1.9", "<=0.1", true],
    ["0.2.0", "0.1.0 - 0.3.0", true],
    ["0.2.0", "^0.1.0 || ^0.2.0", true],
    ["0.3.0", "^0.1.0 || ^0.2.0", false],
    ["9.9.9", "*", true],
    ["9.9.9", "latest", true],
    ["9.9.9", "", true],
    ["9.9.9", "workspace:*", true],
    ["0.1.0", "file:../sdk", undefined],
    ["0.1.0", "github:someone/vocalhost", undefined],
    ["0.1.0", "https://example.com/vocalhost.tgz", undefined],
    ["0.1.0", "some-tag", undefined],
  ];
  for (const [version, range, expected] of cases)
    assert.equal(fitsWanted(version, range), expected, `${version} in ${range}`);
});
