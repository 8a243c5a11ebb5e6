import assert from "node:assert/strict";
import { carrierNames } from "@vocalhost/protocol";
import { randomInt } from "node:crypto";
import { connect, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { size } from "../../testing/sizes.ts";
import { isAlive, processFigures } from "../harness/process-figures.ts";
import { rawExchange } from "../harness/raw-http.ts";
import { until, within } from "../../testing/wait.ts";
import { openCarrierSocket, type CarrierSocket } from "./carrier-socket.ts";
import { startHealthyCall } from "./healthy-call.ts";
import { hostileMessages } from "./hostile-messages.ts";
import { openingOf } from "./openings.ts";
import { startPhoneRunner } from "./phone-runner.ts";

const SEED = randomInt(2 ** 31);
const MESSAGES = size(4_000, 20_000);
const MESSAGES_PER_SOCKET = 250;
const SOCKETS_AT_ONCE = 8;
const HEAP_GROWTH_MAX_MIB = 40;
const RSS_MAX_MIB = 600;

describe(`calls from those who mean ill (seed ${SEED})`, async () => {
  const messages = hostileMessages(MESSAGES, SEED);
  const runner = await startPhoneRunner();
  const pid = runner.process.pid!;
  after(() => runner[Symbol.asyncDispose]());

  // One call that must not notice anything of what follows.
  const healthy = await startHealthyCall(runner.socketUrl(), "CA-healthy");
  const gone = openVanishingSocket(runner.port);
  const idle = await openCarrierSocket(runner.socketUrl());
  const idleClosed = idle.closed(45_000);
  await runner.record("CA-healthy");
  let heapBeforeMib = 0;
  before(async () => {
    heapBeforeMib = (await runner.figures()).heapMib;
  });

  test(`${MESSAGES} malformed messages inside calls of every carrier`, async () => {
    const batches = Array.from({ length: MESSAGES / MESSAGES_PER_SOCKET }, (_, at) => ({
      carrier: carrierNames[at % carrierNames.length]!,
      callId: `hostile-${at}`,
      messages: messages.slice(at * MESSAGES_PER_SOCKET, (at + 1) * MESSAGES_PER_SOCKET),
    }));
    let read = 0;
    await inParallel(batches, async (batch) => {
      using socket = await openCarrierSocket(runner.socketUrl());
      socket.say(...openingOf(batch.carrier, batch.callId), ...batch.messages);
      await readToTheEnd(socket);
      read += batch.messages.length;
    });
    assert.equal(read, MESSAGES, "every message was read by a call that went on");
    assert.ok(isAlive(pid));
    assert.ok(processFigures(pid).rssMib < RSS_MAX_MIB, `${processFigures(pid).rssMib} MiB`);
  });

  test("the messages of a real call, out of order, doubled and left out", async () => {
    const shuffles = Array.from({ length: 80 }, (_, at) => at);
    await inParallel(shuffles, async (at) => {
      const carrier = carrierNames[at % carrierNames.length]!;
      const real = realCall(carrier, `shuffled-${at}`);
      const order = shuffled(real, SEED + at).flatMap((message, place) =>
        place % 7 === at % 7 ? [message, message] : [message],
      );
      using socket = await openCarrierSocket(runner.socketUrl());
      socket.say(...order.slice(at % 5), { event: "stop" });
      const { code } = await socket.closed(); // by a stop, or because it does not begin as a call does
      assert.ok(code === 1000 || code === 1008, `${code}`);
    });
  });

  test("openings that are none", async () => {
    const openings = Array.from({ length: 120 }, (_, at) => messages.slice(at * 2, at * 2 + 2));
    await inParallel(openings, async (opening) => {
      using socket = await openCarrierSocket(runner.socketUrl());
      socket.say(...opening);
      const outcome = await Promise.race([socket.closed(), readToTheEnd(socket).then(() => ({ code: 0 }))]);
      assert.ok(
        [0, 1008].includes(outcome.code),
        `${outcome.code} after ${JSON.stringify(opening).slice(0, 300)}`,
      );
    });
  });

  test("codecs and ids of any script are refused in words that fit a close frame", async () => {
    const start = {
      event: "start",
      stream_id: "s",
      start: { call_control_id: "v3:x", media_format: { encoding: "é".repeat(900) } },
    };
    using socket = await openCarrierSocket(runner.socketUrl());
    socket.say(start);
    const { code, reason } = await socket.closed();
    assert.equal(code, 1008);
    assert.match(reason, /^Telnyx streams é+/);
    using first = await openCarrierSocket(runner.socketUrl());
    using second = await openCarrierSocket(runner.socketUrl());
    const callId = "x".repeat(256);
    first.say(...openingOf("plivo", callId));
    await readToTheEnd(first);
    second.say(...openingOf("plivo", callId));
    assert.equal((await second.closed()).code, 1008);
  });

  test("binary frames are no messages, and end nothing", async () => {
    using socket = await openCarrierSocket(runner.socketUrl());
    socket.say(...openingOf("twilio", "CA-binary"));
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(70_000, 0xff), Buffer.from('{"event":"stop"}')])
      for (let copies = 0; copies < 50; copies += 1) socket.socket.send(bytes);
    await readToTheEnd(socket);
    assert.equal((await runner.record("CA-binary")).ended, null);
  });

  test("a message of a mebibyte ends its own call and no other", async () => {
    using fits = await openCarrierSocket(runner.socketUrl());
    fits.say(...openingOf("twilio", "CA-large"));
    for (let copies = 0; copies < 20; copies += 1)
      fits.say({ event: "media", media: { payload: "A".repeat(1_000_000) } }, "[".repeat(1_000_000));
    await readToTheEnd(fits);
    for (const opening of [openingOf("twilio", "CA-too-large"), []]) {
      using socket = await openCarrierSocket(runner.socketUrl());
      socket.say(...opening, "x".repeat(1024 * 1024 + 1));
      assert.equal((await socket.closed()).code, 1009);
    }
  });

  test("frames that break the protocol itself end their connection only", async () => {
    const broken = [
      Buffer.from([0x81, 0x01, 0x41]), // not masked
      Buffer.from([0xf1, 0x80, 0, 0, 0, 0]), // reserved bits
      Buffer.from([0x83, 0x80, 0, 0, 0, 0]), // reserved opcode
      Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]), // text that is not UTF-8
      Buffer.from([0x80, 0x80, 0, 0, 0, 0]), // the end of a message that never began
      Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), // 2^64 bytes to come
      Buffer.from([0x88, 0x81, 0, 0, 0, 0, 0x03]), // half a close code
    ];
    for (const bytes of broken) {
      const socket = await rawUpgrade(runner.port);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.write(bytes);
      await within(closed, 10_000, "end of the connection");
    }
  });

  test("a second call under the healthy one's id is refused", async () => {
    for (let attempts = 0; attempts < 20; attempts += 1) {
      using socket = await openCarrierSocket(runner.socketUrl());
      socket.say(...openingOf("twilio", "CA-healthy"));
      assert.deepEqual(await socket.closed(), {
        code: 1008,
        reason: "Call CA-healthy has a session already",
      });
    }
  });

  test("upgrades that are half there or odd", async () => {
    const host = `Host: localhost:${runner.port}\r\n`;
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
    const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const requests = [
      `GET /ws HTTP/1.1\r\n${host}${upgrade}\r\n`,
      `GET /ws HTTP/1.1\r\n${host}${upgrade}Sec-WebSocket-Key: x\r\n\r\n`,
      `GET /ws HTTP/1.1\r\n${host}${upgrade.replace("13", "7")}${key}\r\n`,
      `POST /ws HTTP/1.1\r\n${host}${upgrade}${key}Content-Length: 0\r\n\r\n`,
      `GET http://%%/ws HTTP/1.1\r\n${host}${upgrade}${key}\r\n`,
      `GET /ws?%%%&sample-rate=%zz HTTP/1.1\r\n${host}${upgrade}${key}\r\n`,
      `GET /ws/%%% HTTP/1.1\r\n${host}${upgrade}${key}\r\n`,
      `GET /ws/${"x".repeat(8_000)} HTTP/1.1\r\n${host}${upgrade}${key}\r\n`,
      `GET /ws HTTP/1.1\r\n${host}${upgrade}${key}X-Twilio-Signature: \r\n\r\n`,
    ];
    for (const request of requests) {
      const answer = await rawExchange(runner.port, request);
      assert.match(answer, /^HTTP\/1\.1 (?:101|4\d\d) /, request.split("\r\n", 1)[0]);
    }
  });

  test("who never names the call is shown out after ten seconds", async () => {
    const { code, reason } = await idleClosed;
    assert.deepEqual([code, reason], [1008, "The carrier did not name the call within 10 s"]);
  });

  test("a carrier that vanished without a word is noticed by its silence", async () => {
    const record = await until(
      async () => {
        const calls = await runner.calls();
        return calls.find(({ callData, ended }) => callData?.callId === "CA-vanished" && ended !== null);
      },
      75_000,
      "end of the call whose carrier vanished",
    );
    assert.equal(record.ended, "client-lost");
    const lastedMs = (record.endedMs ?? 0) - record.startedMs;
    assert.ok(lastedMs > 29_000, `given up after ${lastedMs} ms, before two pings went unanswered`);
    (await gone).destroy();
  });

  test("the healthy call has lost nothing", async () => {
    const { sentMs, echoedMs } = await healthy.finish();
    const record = await runner.record("CA-healthy", ({ ended }) => ended === "client-left");
    assert.ok(sentMs > 5_000, `${sentMs} ms is a call`);
    assert.equal(record.droppedFrames, 0);
    assert.equal(record.heardFrames * 20, sentMs, "the bot heard all of it");
    assert.ok(echoedMs >= sentMs - 40, `of ${sentMs} ms came back ${echoedMs}`);
  });

  test("and nothing is left of all that", async () => {
    await until(async () => (await runner.figures()).sessions === 0, 20_000, "end of every session");
    const { heapMib } = await runner.figures();
    assert.ok(heapMib - heapBeforeMib < HEAP_GROWTH_MAX_MIB, `${heapBeforeMib} MiB became ${heapMib}`);
    assert.ok(processFigures(pid).rssMib < RSS_MAX_MIB, `${processFigures(pid).rssMib} MiB`);
    const { openFiles } = processFigures(pid);
    assert.ok(openFiles < 100, `${openFiles} open files`);
    assert.doesNotMatch(runner.output(), /ERROR|outside of any session|bot failed|could not be taken/i);
    const longest = Math.max(
      ...runner
        .output()
        .split("\n")
        .map((line) => line.length),
    );
    assert.ok(longest < 1_000, `a log line of ${longest} characters`);
    assert.equal(await within(runner.end(), 10_000, "end of the runner"), 0);
  });
});

/** Resolves when the other side has taken in everything sent so far. */
async function readToTheEnd({ socket }: CarrierSocket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once("pong", () => resolve());
  socket.once("close", (code) => reject(new Error(`The call ended with ${code}`)));
  socket.ping();
  await within(promise, 30_000, "pong");
}

async function inParallel<T>(items: T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: SOCKETS_AT_ONCE }, worker));
}

function realCall(carrier: (typeof carrierNames)[number], callId: string): object[] {
  const opening = openingOf(carrier, callId).map((text) => JSON.parse(text) as object);
  const payload = Buffer.alloc(160, 0xff).toString("base64");
  const media = Array.from({ length: 20 }, (_, at) => ({
    event: "media",
    media: { track: "inbound", chunk: String(at + 1), timestamp: String(at * 20), payload },
  }));
  const rest = [
    { event: "dtmf", dtmf: { digit: "1" } },
    { event: "mark", mark: { name: "0:960" } },
    { event: "stop" },
  ];
  return [...opening, ...media, ...rest];
}

function shuffled<T>(items: T[], seed: number): T[] {
  let state = seed;
  const random = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state;
  };
  return items
    .map((item) => ({ item, key: random() }))
    .sort((left, right) => left.key - right.key)
    .map(({ item }) => item);
}

/** A TCP connection on which a WebSocket stands, for bytes no WebSocket client would send. */
async function rawUpgrade(port: number): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => undefined); // a reset is an end too
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once("data", () => resolve());
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await within(promise, 10_000, "answer to the upgrade");
  return socket;
}

/** A call whose carrier says its opening and is never heard of again; it answers no ping. */
async function openVanishingSocket(port: number): Promise<Socket> {
  const socket = await rawUpgrade(port);
  for (const text of openingOf("twilio", "CA-vanished")) socket.write(textFrame(text));
  socket.resume();
  return socket;
}

function textFrame(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([Buffer.from([0x81, 0xfe]), length, Buffer.alloc(4), bytes]); // a mask of zeros
}
