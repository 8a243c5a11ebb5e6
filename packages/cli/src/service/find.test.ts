import assert from "node:assert/strict";
import { test } from "node:test";
import { findId } from "./find.ts";

const ONE = "3f2a9c04-0000-4000-8000-000000000001";
const TWIN = "3f2a9c04-0000-4000-8000-000000000002";
const OTHER = "77aa0000-0000-4000-8000-000000000003";
const among = (...ids: string[]) => ({
  what: "session",
  listedBy: "vocalhost agent sessions x",
  known: async () => ids,
});

test("an id is found by its beginning; a whole one is never looked up", async () => {
  assert.equal(await findId("77AA", among(ONE, OTHER)), OTHER);
  assert.equal(await findId(ONE.toUpperCase(), { ...among(), known: () => assert.fail("looked") }), ONE);
});

test("a beginning that fits none, or several, says so and how to see them", async () => {
  const fixes = ["See which exist: vocalhost agent sessions x"];
  await assert.rejects(findId("ffff", among(ONE)), { message: "There is no session ffff", fixes });
  await assert.rejects(findId("3f2a", among(ONE, TWIN)), {
    message: "Several sessions start with 3f2a",
    why: `They are ${ONE}, ${TWIN}.`,
  });
  for (const odd of ["", "x", "../1", "3"])
    await assert.rejects(findId(odd, among(ONE, OTHER)), { message: `There is no session ${odd}` });
});
