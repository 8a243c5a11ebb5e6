import assert from "node:assert/strict";
import { test } from "node:test";
import { createListeners } from "./listeners.ts";

interface Events {
  said: (text: string) => void;
  left: () => void;
}

test("each listener of an event hears it, in the order they came", () => {
  const listeners = createListeners<Events>();
  const heard: string[] = [];
  listeners.on("said", (text) => void heard.push(`first ${text}`));
  listeners.on("said", (text) => void heard.push(`second ${text}`));
  listeners.on("left", () => void heard.push("left"));
  listeners.emit("said", "hello");
  assert.deepEqual(heard, ["first hello", "second hello"]);
  listeners.emit("left");
  assert.equal(heard.at(-1), "left");
});

test("a listener is on the list once, until it is taken off", () => {
  const listeners = createListeners<Events>();
  let calls = 0;
  const count = (): void => void (calls += 1);
  assert.equal(listeners.has("left"), false);
  listeners.on("left", count);
  listeners.on("left", count);
  assert.equal(listeners.has("left"), true);
  listeners.emit("left");
  assert.equal(calls, 1);
  listeners.off("left", count);
  listeners.off("left", count);
  assert.equal(listeners.has("left"), false);
  listeners.emit("left");
  assert.equal(calls, 1);
});

test("a listener may take itself off while it is called", () => {
  const listeners = createListeners<Events>();
  const heard: string[] = [];
  const once = (): void => {
    listeners.off("left", once);
    heard.push("once");
  };
  listeners.on("left", once);
  listeners.on("left", () => void heard.push("always"));
  listeners.emit("left");
  listeners.emit("left");
  assert.deepEqual(heard, ["once", "always", "always"]);
});

test("an exception of a listener reaches the emitter", () => {
  const listeners = createListeners<Events>();
  listeners.on("left", () => {
    throw new Error("no");
  });
  assert.throws(() => listeners.emit("left"), /no/);
});
