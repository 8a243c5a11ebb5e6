import { transportNames } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { doorOf } from "./doors.ts";

test("every transport has a door, and its end is told in that door's words", () => {
  for (const name of transportNames) {
    const { names, completion } = doorOf(name);
    assert.ok(names.includes(name));
    assert.equal(completion, ["webrtc", "room"].includes(name) ? "HTTP_COMPLETED" : "WS_CONNECTION_CLOSED");
  }
});
