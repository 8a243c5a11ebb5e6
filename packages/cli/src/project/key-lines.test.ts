import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findKeyLines } from "./key-lines.ts";

test("finds keys wherever TOML lets them stand", () => {
  const text = `# comment with key = 1
a = 1
"b c" = """
x = 2
""" # d = 3
e.f . 'g' = 'h = 1'
[t.u]
v = [ 1, # two = 2
  { w = 1, x = { y = 2 } },
]
[[ list ]]
z = { one = "}", two = '#' }
`;
  const lines = Object.fromEntries(findKeyLines(text));
  assert.deepEqual(lines, {
    a: 2,
    "b c": 3,
    e: 6,
    "e.f": 6,
    "e.f.g": 6,
    t: 7,
    "t.u": 7,
    "t.u.v": 8,
    "t.u.v.0": 8,
    "t.u.v.1": 9,
    "t.u.v.1.w": 9,
    "t.u.v.1.x": 9,
    "t.u.v.1.x.y": 9,
    list: 11,
    "list.z": 12,
    "list.z.one": 12,
    "list.z.two": 12,
  });
});

test("reads on to the end or stops, whatever it is given", () => {
  const parts = fc.constantFrom(..."ab.=[]{}\"'#,\n \\1".split(""), '"""', "'''");
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 60 }), (pieces) => {
      const text = pieces.join("");
      for (const line of findKeyLines(text).values()) assert.ok(line <= text.split("\n").length);
    }),
    { numRuns: 2_000 },
  );
});
