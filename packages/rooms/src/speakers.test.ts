import assert from "node:assert/strict";
import { test } from "node:test";
import { createSpeakers, type ParticipantLevel } from "./speakers.ts";

test("who is loud for long enough speaks, until silence", () => {
  const speakers = createSpeakers();
  assert.deepEqual(speakers.update([level("alice", { loudPackets: 3 })]), [], "a cough");
  assert.deepEqual(speakers.update([level("alice"), level("bob", { loudPackets: 0 })]), [
    { participant: "alice", active: true, level: 0.125 },
  ]);
  assert.deepEqual(speakers.update([level("alice")]), [], "nothing new");
  assert.deepEqual(
    speakers.active().map(({ participant }) => participant),
    ["alice"],
  );
  assert.deepEqual(speakers.update([]), [{ participant: "alice", active: false, level: 0 }]);
  assert.deepEqual(speakers.active(), []);
});

test("the loudest is first, and who left is forgotten", () => {
  const speakers = createSpeakers();
  speakers.update([level("alice"), level("bob", { loudness: 3 })]);
  assert.deepEqual(
    speakers.active().map(({ participant }) => participant),
    ["bob", "alice"],
  );
  speakers.forget("bob");
  assert.deepEqual(
    speakers.update([level("alice")]).map(({ participant }) => participant),
    [],
  );
});

function level(participant: string, fields: Partial<ParticipantLevel> = {}): ParticipantLevel {
  return { participant, track: `TR_${participant}`, packets: 20, loudPackets: 18, loudness: 25, ...fields };
}
