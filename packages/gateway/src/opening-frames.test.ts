import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpeningFrames, type Opening } from "./opening-frames.ts";
import { clientFrame, twilioOpening } from "./testing/client-frames.ts";

const MAX_BYTES = 64 * 1024;
const [connected = "", start = ""] = twilioOpening({ _serviceHost: "a.org", _token: "t" });
const START = { kind: "start", serviceHost: "a.org", token: "t" };

function read(...chunks: Buffer[]): Opening {
  const frames = createOpeningFrames({ maxBytes: MAX_BYTES });
  let opening: Opening = { kind: "more" };
  for (const chunk of chunks) {
    opening = frames.push(chunk);
    if (opening.kind !== "more") break;
  }
  return opening;
}

test("the start message is found however the bytes are cut", () => {
  const all = Buffer.concat([clientFrame(connected), clientFrame("", { opcode: 9 }), clientFrame(start)]);
  for (let cut = 0; cut <= all.length; cut++)
    assert.deepEqual(read(all.subarray(0, cut), all.subarray(cut)), START, String(cut));
  assert.deepEqual(read(...Array.from(all, (byte) => Buffer.from([byte]))), START);
  for (let cut = 0; cut < all.length; cut++) assert.equal(read(all.subarray(0, cut)).kind, "more");
});

test("fragments are put together, with control frames between them", () => {
  for (let cut = 0; cut <= start.length; cut += 7) {
    const parts = [
      clientFrame(start.slice(0, cut), { isLast: false }),
      clientFrame("ping", { opcode: 9 }),
      clientFrame(start.slice(cut), { opcode: 0 }),
    ];
    assert.deepEqual(read(clientFrame(connected), ...parts), START, String(cut));
  }
  assert.deepEqual(
    read(
      ...[...start].map((character, index) =>
        clientFrame(character, { opcode: index === 0 ? 1 : 0, isLast: index === start.length - 1 }),
      ),
    ),
    START,
  );
});

test("a start message without the parameters names nobody", () => {
  for (const message of [
    '{"event":"start"}',
    '{"event":"start","start":null}',
    '{"event":"start","start":{"customParameters":{"_serviceHost":5,"_token":""}}}',
  ])
    assert.deepEqual(read(clientFrame(message)), { kind: "start", serviceHost: undefined, token: undefined });
  for (const message of ["{}", "[]", "null", "5", '{"event":"media"}'])
    assert.equal(read(clientFrame(message)).kind, "more");
});

test("what is no carrier is refused with the code that fits", () => {
  const table: [string, number, ...Buffer[]][] = [
    ["unmasked", 1002, clientFrame(start, { isMasked: false })],
    ["reserved bits", 1002, clientFrame(start, { reservedBits: 0x40 })],
    ["unknown opcode", 1002, clientFrame(start, { opcode: 3 })],
    ["unknown control", 1002, clientFrame("", { opcode: 11 })],
    ["binary", 1003, clientFrame(start, { opcode: 2 })],
    ["lone continuation", 1002, clientFrame(start, { opcode: 0 })],
    ["text within fragments", 1002, clientFrame("a", { isLast: false }), clientFrame("b")],
    ["fragmented ping", 1002, clientFrame("", { opcode: 9, isLast: false })],
    ["long ping", 1002, clientFrame("x".repeat(126), { opcode: 9 })],
    ["close", 1000, clientFrame("", { opcode: 8 })],
    ["no JSON", 1007, clientFrame("hello")],
    ["no UTF-8", 1007, clientFrame(Buffer.from([0xff, 0xfe]))],
    ["claims 2^62 bytes", 1009, clientFrame("", { claimedBytes: 2 ** 62 })],
    ["one too long", 1009, clientFrame(`"${"x".repeat(MAX_BYTES)}"`)],
    ["many too long", 1009, ...Array.from({ length: 700 }, () => clientFrame(`"${"x".repeat(100)}"`))],
    [
      "endless fragments",
      1009,
      ...Array.from({ length: 20_000 }, (_, index) =>
        clientFrame("", { opcode: index === 0 ? 1 : 0, isLast: false }),
      ),
    ],
  ];
  for (const [name, code, ...chunks] of table) {
    const opening = read(...chunks);
    assert.equal(opening.kind === "refused" && opening.code, code, name);
  }
});
