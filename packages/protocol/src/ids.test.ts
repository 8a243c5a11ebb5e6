import assert from "node:assert/strict";
import { test } from "node:test";
import { newPeerId, newSessionId } from "./ids.ts";

test("ids are UUIDs of which no two are the same", () => {
  for (const create of [newSessionId, newPeerId]) {
    const ids: string[] = Array.from({ length: 1000 }, () => create());
    assert.equal(new Set(ids).size, ids.length);
    for (const id of ids)
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});
