import assert from "node:assert/strict";
import { test } from "node:test";
import { toCsv } from "./usage-csv.ts";

test("cells are quoted where needed, and formulas are inert", () => {
  const rows: [string | number, string][] = [
    [-1, "-1"],
    ["plain", "plain"],
    ['a,"b"', '"a,""b"""'],
    ["two\nlines", '"two\nlines"'],
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", '"\'\t=1"'],
    ['=HYPERLINK("x")', '"\'=HYPERLINK(""x"")"'],
  ];
  for (const [value, expected] of rows) assert.equal(toCsv([[value, "x"]]), `${expected},x\r\n`);
});
