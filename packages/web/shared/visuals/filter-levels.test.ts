import type { FilterView } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { toPath, toSteps } from "./filter-levels.ts";

const view: FilterView = {
  model: "tel",
  isBypassed: false,
  levelMs: 100,
  levels: [
    { number: 0, beforeDb: -10, afterDb: -70 },
    { number: 1, beforeDb: -40, afterDb: -90 },
  ],
};

test("the newest level is at the right, loud is high, and what is not there is not drawn", () => {
  const steps = toSteps(view, "beforeDb");
  assert.equal(steps.length, 100);
  assert.deepEqual(steps.slice(-3), [undefined, -10, -40]);
  assert.equal(toPath(steps, 99, 64), "M98.0 2.0L99.0 32.0");
  assert.equal(toPath(toSteps(view, "afterDb"), 99, 64), "M98.0 62.0L99.0 62.0");
  assert.equal(toPath(toSteps({ ...view, levels: [] }, "afterDb"), 99, 64), "");
});
