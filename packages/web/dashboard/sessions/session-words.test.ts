import type { Session, SessionFilter } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  filterFacts,
  momentsOf,
  toCorrectionWords,
  toFilterState,
  toReason,
  toSessionState,
} from "./session-words.ts";

test("moments count from the request, in the order they happened", () => {
  const timeline = { bootMs: 400, startMs: 500, botEnteredMs: 30, clientConnectedMs: 20, firstAudioMs: 250 };
  const moments = momentsOf({ coldStart: true, timeline });
  assert.deepEqual(
    moments.map(({ atMs }) => atMs),
    [400, 500, 520, 530, 750],
  );
  assert.equal(moments[0]?.label, "A new instance booted");
  assert.deepEqual(momentsOf({ coldStart: null, timeline: {} }), []);
});

test("a warm start found an instance waiting, whatever it was measured as", () => {
  const moments = momentsOf({ coldStart: false, timeline: { bootMs: 10, startMs: 12 } });
  assert.deepEqual(moments, [
    { label: "An instance was waiting", atMs: 0 },
    { label: "The instance accepted the session", atMs: 12 },
  ]);
});

test("a bot that failed is no session that merely ended", () => {
  const session = { status: "ended", endReason: "bot-failed" } as Session;
  assert.equal(toSessionState(session).word, "Failed");
  assert.equal(toSessionState({ ...session, endReason: "client-left" }).word, "Ended");
});

test("the voice filter says what it did, and nothing of what did not happen", () => {
  const filter: SessionFilter = {
    ...{ model: "tel", state: "ran", version: "1.0.0", framesIn: 2_000, framesFiltered: 1_990 },
    ...{ seconds: 20, nearShare: 0.254, levelRemovedDb: 6.25, cpuMs: 100, bypassedSeconds: 0, failures: 0 },
    ...{ billed: true, warning: null },
  };
  assert.equal(toFilterState(filter).word, "Ran");
  const facts = Object.fromEntries(filterFacts(filter).map(({ label, value }) => [label, value]));
  assert.equal(facts["Model"], "tel 1.0.0");
  assert.equal(facts["Frames filtered"], "1990 of 2000");
  assert.equal(facts["Caller heard in"], "25 %");
  assert.equal(facts["Level removed"], "6.3 dB");
  assert.match(facts["CPU time"] ?? "", /\(0\.5 % of a core\)$/);
  const short = filterFacts({ ...filter, cpuMs: 0 });
  assert.ok(short.some(({ label, value }) => label === "CPU time" && value === "too little to be measured"));
  const idle: SessionFilter = { ...filter, state: "not-attached", version: null, framesIn: 0 };
  assert.deepEqual(filterFacts(idle), [
    { label: "Model", value: "tel" },
    { label: "Billed", value: "yes" },
  ]);
});

test("unknown reasons are shown as they are", () => {
  assert.equal(toReason("something-new"), "something-new");
  assert.equal(toReason(null), "–");
});

test("a corrected length says which way the bot was wrong", () => {
  assert.equal(toCorrectionWords(18_240), "the bot reported 18.2 s less than the service measured");
  assert.equal(toCorrectionWords(-2_000), "the bot reported 2 s more than the service measured");
});
