import assert from "node:assert/strict";
import { test } from "node:test";
import { createRoomMixer, type RoomMixer } from "./room-mixer.ts";

const FRAME = 320; // 20 ms at 16 kHz

test("a single speaker is heard at once, unchanged", () => {
  const { mixer, heard } = listen();
  mixer.push("ann", level(5, 160));
  mixer.push("ann", level(6, 100));
  assert.deepEqual(heard(), [...level(5, 160), ...level(6, 100)]);
});

test("two are added up, and what is too loud stays at the edge", () => {
  const { mixer, heard } = listen();
  mixer.push("ann", level(1, FRAME));
  mixer.push("bob", level(100, FRAME)); // joins: from now on the mixer waits for both
  mixer.push("ann", level(1, FRAME));
  mixer.push("ann", level(30_000, FRAME));
  mixer.push("bob", level(30_000, FRAME));
  assert.deepEqual(heard(), [...level(1, FRAME), ...level(101, FRAME), ...level(32_767, FRAME)]);
});

test("the mixer waits briefly for a silent participant, and not for one who left", () => {
  const { mixer, heard } = listen();
  mixer.push("ann", level(1, FRAME));
  mixer.push("bob", level(100, FRAME));
  mixer.push("ann", level(1, FRAME));
  assert.equal(heard().length, 2 * FRAME);
  mixer.push("ann", level(2, FRAME));
  mixer.push("ann", level(2, FRAME));
  assert.equal(heard().length, 2 * FRAME, "bob may still come");
  mixer.push("ann", level(2, FRAME));
  assert.equal(heard().length, 3 * FRAME, "60 ms are enough");
  mixer.remove("bob");
  assert.equal(heard().length, 5 * FRAME);
  mixer.push("ann", level(3, 10));
  assert.equal(heard().length, 5 * FRAME + 10);
});

function listen(): { mixer: RoomMixer; heard(): number[] } {
  const samples: number[] = [];
  const mixer = createRoomMixer({ sampleRateHz: 16_000, mixed: (part) => void samples.push(...part) });
  return { mixer, heard: () => samples };
}

function level(value: number, length: number): Int16Array {
  return new Int16Array(length).fill(value);
}
