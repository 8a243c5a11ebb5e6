import assert from "node:assert/strict";
import { test } from "node:test";
import { incompatibility } from "./version-check.ts";

test("what a client is told about its version", () => {
  const note = "Compatibility issues may occur.";
  const cases: [string | undefined, string | undefined][] = [
    ["2.2.0", undefined],
    ["2.0.0", undefined],
    ["2.999.7", undefined],
    ["1.0.0", undefined],
    ["1.2.3", undefined],
    ["3.0.0", `RTVI version 3.0.0 is not compatible with server protocol 2.2.0. ${note}`],
    ["0.3.1", `RTVI version 0.3.1 is not compatible with server protocol 2.2.0. ${note}`],
    ["2.1", `Invalid client version format (2.1). ${note}`],
    ["two", `Invalid client version format (two). ${note}`],
    ["", `Invalid client version format (). ${note}`],
    [undefined, `Client version unknown. ${note}`],
  ];
  for (const [version, expected] of cases) assert.equal(incompatibility(version), expected, version);
});
