import assert from "node:assert/strict";
import { test } from "node:test";
import { createMarks } from "./marks.ts";

const ANSWER_MS = 3_000;

test("what the carrier says was played counts as heard", () => {
  const { marks, sent, played } = start();
  marks.place(960, false);
  marks.place(1_920, false);
  assert.deepEqual(sent, ["0:960", "0:1920"]);
  assert.deepEqual(played, []);
  marks.returned("0:960");
  marks.returned("0:1920");
  assert.deepEqual(played, [
    [0, 960],
    [0, 1_920],
  ]);
});

test("marks that come back twice or out of order do not count back", () => {
  const { marks, played } = start();
  marks.place(100, false);
  marks.place(200, false);
  for (const name of ["0:200", "0:100", "0:200"]) marks.returned(name);
  assert.deepEqual(played, [[0, 200]]);
});

test("marks of what is sent again are ignored, though the carrier sends them back at once", () => {
  const { marks, sent, played } = start();
  marks.place(100, false);
  marks.place(200, false);
  marks.returned("0:100");
  marks.rewind(120);
  marks.returned("0:200");
  assert.deepEqual(played, [[0, 100]]);
  marks.place(200, true);
  assert.equal(sent.at(-1), "1:200");
  marks.returned("1:200");
  assert.deepEqual(played.at(-1), [0, 200]);
  marks.clear(1);
  marks.place(50, false);
  marks.returned("2:50");
  assert.deepEqual(played.at(-1), [1, 50]);
});

test("marks from before a clear are ignored, also when the carrier sends them back at once", () => {
  const { marks, sent, played } = start();
  marks.place(100, true);
  marks.clear(1);
  marks.returned("0:100");
  assert.deepEqual(played, []);
  marks.place(50, false);
  assert.equal(sent.at(-1), "1:50");
  marks.returned("1:50");
  assert.deepEqual(played, [[1, 50]]);
});

test("names we did not give are ignored", () => {
  const { marks, played } = start();
  marks.place(100, false);
  const foreign = [
    "",
    ":",
    "0",
    "0:",
    ":100",
    "0:x",
    "0:-1",
    "0:NaN",
    "0:Infinity",
    "1:100",
    "0:101",
    "0:1e9",
    "0:99.5",
  ];
  for (const name of [...foreign, "greeting-end", "x".repeat(100_000)]) marks.returned(name);
  assert.deepEqual(played, []);
  marks.returned("0:100");
  assert.deepEqual(played, [[0, 100]]);
});

test("a carrier that never answers causes no wait", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { marks, played } = start();
  marks.place(100, false);
  context.mock.timers.tick(10 * ANSWER_MS);
  assert.deepEqual(played, [], "more follows, so its mark will tell");
  marks.place(200, true);
  context.mock.timers.tick(ANSWER_MS - 1);
  assert.deepEqual(played, []);
  context.mock.timers.tick(1);
  assert.deepEqual(played, [[0, 200]]);
});

test("a carrier that was silent once is not waited for again until it answers", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { marks, sent, played } = start();
  marks.place(100, true);
  context.mock.timers.tick(ANSWER_MS);
  marks.place(200, false);
  assert.deepEqual(played.at(-1), [0, 200]);
  assert.deepEqual(sent, ["0:100", "0:200"], "it is still asked");
  marks.clear(1);
  marks.place(50, false);
  assert.deepEqual(played.at(-1), [1, 50]);
  marks.returned("0:200");
  marks.place(70, false);
  assert.deepEqual(played.at(-1), [1, 50]);
  marks.returned("1:70");
  assert.deepEqual(played.at(-1), [1, 70]);
});

test("an answer, a clear and the end stop the waiting", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const answered = start();
  answered.marks.place(100, true);
  answered.marks.returned("0:100");
  const cleared = start();
  cleared.marks.place(100, true);
  cleared.marks.clear(1);
  const stopped = start();
  stopped.marks.place(100, true);
  stopped.marks.stop();
  const goesOn = start();
  goesOn.marks.place(100, true);
  goesOn.marks.place(200, false);
  context.mock.timers.tick(2 * ANSWER_MS);
  assert.deepEqual(answered.played, [[0, 100]]);
  for (const { played } of [cleared, stopped, goesOn]) assert.deepEqual(played, []);
});

test("without marks, sent audio counts as heard and no mark is requested", () => {
  const { marks, sent, played } = start(false);
  marks.place(100, false);
  marks.place(100, true);
  marks.place(200, true);
  marks.clear(1);
  marks.place(50, true);
  assert.deepEqual(sent, []);
  assert.deepEqual(played, [
    [0, 100],
    [0, 200],
    [1, 50],
  ]);
});

function start(acknowledged = true) {
  const sent: string[] = [];
  const played: [number, number][] = [];
  const marks = createMarks({
    acknowledged,
    send: (name) => sent.push(name),
    played: (generation, samples) => played.push([generation, samples]),
  });
  return { marks, sent, played };
}
