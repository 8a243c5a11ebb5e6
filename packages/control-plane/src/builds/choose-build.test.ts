import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseBuild, type QueuedBuild } from "./choose-build.ts";

const build = (id: string, organizationId: string, createdAt: number): QueuedBuild => ({
  id,
  organizationId,
  createdAt,
  status: "pending",
});

function check(
  what: string,
  now: Partial<Parameters<typeof chooseBuild>[0]>,
  expect: string | undefined,
): void {
  test(what, () => {
    assert.equal(chooseBuild({ queue: [], running: [], lastStartedAt: new Map(), ...now })?.id, expect);
  });
}

const many = [build("m2", "many", 2), build("m1", "many", 1), build("m3", "many", 3)];

check("nothing waits", {}, undefined);
check("the oldest goes first", { queue: many }, "m1");
check(
  "what was cut short goes before everything",
  { queue: [...many, { ...build("cut", "many", 9), status: "building" }] },
  "cut",
);
check(
  "who has one running waits for who has none",
  { queue: [...many, build("late", "few", 9)], running: [{ organizationId: "many" }] },
  "late",
);
check(
  "with one place organisations take turns",
  { queue: [...many, build("late", "few", 9)], lastStartedAt: new Map([["many", 8]]) },
  "late",
);
check(
  "and who had the last turn waits for the next",
  {
    queue: [...many, build("late", "few", 9)],
    lastStartedAt: new Map([
      ["many", 8],
      ["few", 10],
    ]),
  },
  "m1",
);
