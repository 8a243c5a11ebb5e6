import assert from "node:assert/strict";
import { encodeFrame, limits } from "@vocalhost/protocol";
import fc from "fast-check";
import { after, afterEach, describe, test } from "node:test";
import { patientMs } from "../../testing/patience.ts";
import { isAlive, processFigures } from "../harness/process-figures.ts";
import { call } from "../harness/raw-http.ts";
import { OPCODES, openRawSocket, rawFrame, type RawFrame } from "../harness/raw-socket.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket } from "../harness/socket-client.ts";
import { aFewAtATime, until, within } from "../../testing/wait.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts" });
const { port } = runner;
const pid = runner.process.pid!;
const WS_URL = `ws://localhost:${port}/ws-client`;
const SLOWEST_LOOP_MS = 500;
const GROWTH_MAX_MIB = 50;
await warmUp();
const { rssMib } = processFigures(pid);
after(() => runner[Symbol.asyncDispose]());

afterEach(async () => {
  assert.ok(isAlive(pid), "the runner has died");
  const { loopDelayMs } = (await call(port, "GET /figures")).json();
  assert.ok(loopDelayMs < patientMs(SLOWEST_LOOP_MS), `the loop was ${loopDelayMs} ms late`);
  const grownMib = processFigures(pid).rssMib - rssMib;
  assert.ok(grownMib < GROWTH_MAX_MIB, `the runner has grown by ${grownMib} MiB`);
  assert.doesNotMatch(runner.output(), /bot failed/, "a client's mistake was blamed on the bot");
});

/** Memory for the first sessions is not a leak. */
async function warmUp(): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 100 }, () => openSocket(WS_URL)));
  for (const client of clients) client.socket.send(audio({ bytes: 8_000, sampleRateHz: 44_100 }));
  await until(() => clients.every(({ heardMs }) => heardMs > 0), 10_000, "echo");
  for (const client of clients) client.socket.terminate();
  await until(
    async () => (await call(port, "GET /figures")).json().sessions === 0,
    15_000,
    "end of all sessions",
  );
}

async function closesWith(code: number, frames: Buffer[], what: string): Promise<void> {
  using socket = await openRawSocket(port, "/ws-client");
  socket.send(...frames);
  assert.equal(await socket.closeCode(), code, what);
}

const binary = (payload: Uint8Array): Buffer => rawFrame({ opcode: OPCODES.binary, payload });
const message = (data: string): Uint8Array => encodeFrame({ kind: "message", data });

function audio(
  fields: { bytes?: number; sampleRateHz?: number; channels?: number; pts?: number } = {},
): Uint8Array {
  const { bytes = 640, sampleRateHz = 16_000, channels = 1, pts } = fields;
  return encodeFrame({
    kind: "audio",
    id: 0,
    name: "audio",
    audio: new Uint8Array(bytes).fill(7),
    sampleRateHz,
    channels,
    ...(pts === undefined ? {} : { pts }),
  });
}

describe("frames against the protocol", () => {
  const close = (code: number, reason: Uint8Array | string = ""): RawFrame => ({
    opcode: OPCODES.close,
    payload: Buffer.concat([Buffer.of(code >> 8, code & 0xff), Buffer.from(reason)]),
  });
  const start: RawFrame = { opcode: OPCODES.binary, fin: false, payload: "x" };
  const bad: [string, number, RawFrame[]][] = [
    ["not masked", 1002, [{ opcode: OPCODES.binary, payload: audio(), masked: false }]],
    ...[1, 2, 4, 7].map((reserved): [string, number, RawFrame[]] => [
      `reserved bits ${reserved}`,
      1002,
      [{ opcode: OPCODES.binary, payload: audio(), reserved }],
    ]),
    ...[3, 4, 5, 6, 7, 11, 12, 15].map((opcode): [string, number, RawFrame[]] => [
      `opcode ${opcode}`,
      1002,
      [{ opcode, payload: "x" }],
    ]),
    ["a length of 2^63", 1009, [{ opcode: OPCODES.binary, payload: "x", claimedLength: 2n ** 63n }]],
    ["a length of 2^64 - 1", 1009, [{ opcode: OPCODES.binary, payload: "x", claimedLength: 2n ** 64n - 1n }]],
    ["a length of 4 GiB", 1009, [{ opcode: OPCODES.binary, payload: "x", claimedLength: 2n ** 32n }]],
    [
      "a byte more than allowed",
      1009,
      [{ opcode: OPCODES.binary, payload: new Uint8Array(limits.socketMessageBytes + 1) }],
    ],
    [
      "too much in pieces",
      1009,
      Array.from({ length: 17 }, (_, at): RawFrame => ({
        opcode: at === 0 ? 2 : 0,
        fin: false,
        payload: new Uint8Array(65_536),
      })),
    ],
    ["a piece without a beginning", 1002, [{ opcode: OPCODES.continuation, payload: "x" }]],
    ["a beginning inside a beginning", 1002, [start, start]],
    ["a ping in pieces", 1002, [{ opcode: OPCODES.ping, fin: false, payload: "x" }]],
    ["a long ping", 1002, [{ opcode: OPCODES.ping, payload: "x".repeat(126) }]],
    ["a close of one byte", 1002, [{ opcode: OPCODES.close, payload: "x" }]],
    ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535].map((code): [string, number, RawFrame[]] => [
      `close code ${code}`,
      1002,
      [close(code)],
    ]),
    ["a close reason that is no text", 1007, [close(1000, Buffer.of(0xff, 0xfe))]],
    ["text that is none", 1007, [{ opcode: OPCODES.text, payload: Buffer.of(0xc3, 0x28) }]],
  ];
  for (const [what, code, frames] of bad) test(what, () => closesWith(code, frames.map(rawFrame), what));

  test("an honest close is answered in kind", async () => {
    await closesWith(1000, [rawFrame(close(1000, "bye"))], "1000");
    await closesWith(4000, [rawFrame(close(4000))], "4000");
  });

  test("pieces that never end, and very many of them", async () => {
    using endless = await openRawSocket(port, "/ws-client");
    endless.send(rawFrame(start));
    using empty = await openRawSocket(port, "/ws-client");
    const nothing = rawFrame({ opcode: OPCODES.continuation, fin: false });
    empty.send(rawFrame(start), ...Array.from({ length: 50_000 }, () => nothing));
    using tiny = await openRawSocket(port, "/ws-client");
    const byte = rawFrame({ opcode: OPCODES.continuation, fin: false, payload: "x" });
    tiny.send(rawFrame(start), ...Array.from({ length: 100_000 }, () => byte));
    await until(async () => (await call(port, "GET /status")).status === 200, 15_000, "status");
    assert.ok(endless.open);
  });

  test("half a frame, and then nothing", async () => {
    for (const length of [1, 2, 5]) {
      using socket = await openRawSocket(port, "/ws-client");
      socket.send(binary(audio()).subarray(0, length));
    }
  });
});

describe("messages against the framing", () => {
  test("protobuf frames cut at every byte", async () => {
    for (const frame of [
      audio({ bytes: 40, pts: 5 }),
      message('{"label":"rtvi-ai","type":"client-ready"}'),
    ]) {
      const cuts = Array.from({ length: frame.length }, (_, at) => frame.subarray(0, at));
      await aFewAtATime(cuts, (cut) => closesWith(1007, [binary(cut)], `cut at ${cut.length}`));
    }
  });

  test("random bytes are refused or harmless", async () => {
    const samples = fc.sample(fc.uint8Array({ maxLength: 60 }), 300);
    await aFewAtATime(samples, async (bytes) => {
      using socket = await openRawSocket(port, "/ws-client");
      socket.send(binary(bytes), rawFrame({ opcode: OPCODES.close, payload: Buffer.of(0x03, 0xe8) }));
      const code = await socket.closeCode();
      assert.ok([1000, 1007, 1009].includes(code), `${code} for ${Buffer.from(bytes).toString("hex")}`);
    });
  });

  test("audio of the wrong size, rate or number of channels", async () => {
    const refused: [number, Uint8Array][] = [
      [1009, audio({ bytes: limits.audioFrameBytes + 2 })],
      [1009, audio({ bytes: limits.socketMessageBytes - 100 })],
      ...[0, 1, 7_999, 44_101, 15_999, 48_001, 96_000, 2 ** 31, 2 ** 32, 2 ** 53].map(
        (sampleRateHz): [number, Uint8Array] => [1007, audio({ sampleRateHz })],
      ),
    ];
    for (const [code, frame] of refused)
      await closesWith(code, [binary(frame)], Buffer.from(frame.subarray(0, 20)).toString("hex"));
    using client = await openSocket(WS_URL);
    const odd = [
      { bytes: 0 },
      { bytes: 1 },
      { bytes: 641 },
      { channels: 0 },
      { channels: 2 },
      { channels: 255 },
      { channels: 2 ** 31 },
      { pts: 2 ** 52 },
      { bytes: limits.audioFrameBytes },
    ];
    for (const fields of odd) client.socket.send(audio(fields));
    for (const sampleRateHz of [8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000])
      client.socket.send(audio({ sampleRateHz }));
    await until(() => client.heardMs > 500, 15_000, "echo");
    assert.equal(client.socket.readyState, client.socket.OPEN);
  });

  test("a rate that changes with every frame costs the others nothing", async () => {
    using hostile = await openSocket(WS_URL);
    const rates = [44_100, 22_050, 11_025, 48_000, 8_000, 32_000];
    for (let at = 0; at < 3_000; at += 1)
      hostile.socket.send(audio({ bytes: 2, sampleRateHz: rates[at % rates.length]! }));
    await within(call(port, "GET /status"), 1_000, "answer to the others");
  });

  test("messages that are no JSON", async () => {
    for (const data of ["", "{", "nonsense", "\u0000", "{'a':1}", "[".repeat(100_000)])
      await closesWith(1007, [binary(message(data))], data.slice(0, 10));
  });

  test("messages that are JSON and nothing more are harmless", async () => {
    using client = await openSocket(WS_URL);
    const odd = [
      "null",
      "5",
      '"x"',
      "[]",
      "{}",
      '{"label":5}',
      '{"label":"other","type":"client-ready"}',
      `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
    ];
    for (const data of odd) client.socket.send(message(data));
    const label = "rtvi-ai";
    for (const type of [undefined, 5, "", "constructor", "__proto__", "toString", "nothing"])
      client.sendMessage({ label, id: "1", type });
    for (const data of [
      null,
      5,
      "x",
      [],
      {},
      { t: 5 },
      { version: {} },
      { buttons: ["x"] },
      { base64Audio: "%%%", sampleRate: 1, numChannels: 1 },
      { base64Audio: "AAAA", sampleRate: 44_101, numChannels: 1 },
      { base64Audio: "AAAA", sampleRate: 8_001, numChannels: 9 },
    ])
      for (const type of [
        "client-ready",
        "client-message",
        "send-text",
        "dtmf",
        "raw-audio",
        "raw-audio-batch",
        "ui-event",
        "append-to-context",
      ])
        client.sendMessage({ label, id: "2", type, data });
    for (const text of ["hello", "", "{}"]) client.socket.send(text);
    client.sendMessage({ label, id: "last", type: "client-message", data: { t: "ask", d: "still there" } });
    const reply = await until(() => client.messages.find(({ id }) => id === "last"), 15_000, "reply");
    assert.deepEqual(reply.data, { t: "ask", d: "still there" });
  });
});

test("a hundred sockets that vanish without a word leave no session", async () => {
  for (let at = 0; at < 100; at += 1) {
    using socket = await openRawSocket(port, "/ws-client");
    if (at % 2) socket.send(binary(audio()));
  }
  await until(
    async () => (await call(port, "GET /figures")).json().sessions === 0,
    15_000,
    "end of all sessions",
  );
});
