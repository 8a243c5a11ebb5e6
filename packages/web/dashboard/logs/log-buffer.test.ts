import type { LogLine } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogBuffer, type LogBuffer } from "./log-buffer.ts";

const line = (number: number): LogLine => ({
  log: String(number),
  timestamp: String(number).padStart(5, "0"),
});
const textOf = (buffer: LogBuffer) =>
  buffer
    .get()
    .lines.map(({ log }) => log)
    .join(" ");

test("the newest lines stay, and numbers go on", () => {
  const buffer = createLogBuffer(3);
  buffer.add([1, 2].map(line));
  buffer.add([3, 4].map(line));
  assert.equal(textOf(buffer), "2 3 4");
  assert.equal(buffer.get().firstNumber, 1);
});

test("what comes while paused waits, is counted, and is shown afterwards", () => {
  const buffer = createLogBuffer(10);
  buffer.add([line(1)]);
  buffer.setPaused(true);
  buffer.add([2, 3].map(line));
  assert.equal(textOf(buffer), "1");
  assert.equal(buffer.get().waiting, 2);
  buffer.setPaused(false);
  assert.equal(textOf(buffer), "1 2 3");
  assert.equal(buffer.get().waiting, 0);
});

test("earlier lines go before, without those that are there, as far as there is room", () => {
  const buffer = createLogBuffer(4);
  buffer.add([5, 6].map(line));
  buffer.addEarlier([2, 3, 4, 5].map(line));
  assert.equal(textOf(buffer), "3 4 5 6");
  assert.equal(buffer.get().firstNumber, -2);
});

test("ten thousand lines in small portions are a matter of moments", () => {
  const buffer = createLogBuffer();
  for (let index = 0; index < 10_000; index += 50)
    buffer.add(Array.from({ length: 50 }, (_, each) => line(index + each)));
  assert.equal(buffer.get().lines.length, 10_000);
});
