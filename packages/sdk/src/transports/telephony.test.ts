import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { env } from "node:process";
import { test, type TestContext } from "node:test";
import { pause, within } from "../../../../testing/wait.ts";
import { patientMs } from "../../../../testing/patience.ts";
import { createWebSocketArguments } from "../bot/runner-arguments.ts";
import { attachHooks } from "./session-hooks.ts";
import type { CarrierMessage } from "@vocalhost/carriers";
import { detectCall } from "./detect.ts";
import { decodeWireAudio, encodeWireAudio } from "../pacing/wire-audio.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { openSocketPair } from "../testing/socket-pair.ts";
import { setStreamOf } from "./carrier-stream.ts";
import { createTransport } from "./create-transport.ts";
import { keepEarlyMessages } from "./early-messages.ts";
import type { Transport, TransportOptions } from "./transport.ts";
import { waitFor } from "./wait-for.ts";

const MULAW = { encoding: "mulaw", sampleRateHz: 8_000 } as const;
const TWILIO = { event: "start", start: { streamSid: "MZ1", callSid: "CA1", accountSid: "AC1" } };
const EMULATION = { event: "start", start: { streamSid: "MZ1", callSid: "CA1" } };
const TELNYX = { event: "start", stream_id: "st", start: { call_control_id: "v3:x" } };
const EXOTEL = { event: "start", start: { stream_sid: "st", call_sid: "ca", account_sid: "ac" } };
const PLIVO = { event: "start", start: { streamId: "st", callId: "ca" } };

test("the bot hears the caller from the first piece on, though it came before the bot listened", async () => {
  await using call = await connect(PLIVO, {}, [media(1000), media(2000), media(3000)]);
  const levels = await call.heardLevels(3);
  assert.ok(Math.abs(levels[1]! - 2000) < 150 && Math.abs(levels[2]! - 3000) < 150, levels.join());
});

test("Telnyx' pieces are put in order, those of others are taken as they come", async () => {
  const pieces = [1, 3, 2, 4, 5].map((chunk) => media(chunk * 1000, { chunk: String(chunk) }));
  const inOrder = [1000, 2000, 3000, 4000, 5000];
  await using telnyx = await connect(TELNYX, { audioIn: { sampleRateHz: 8_000 } }, pieces);
  assert.deepEqual(await telnyx.roundLevels(5), inOrder);
  await using twilio = await connect(TWILIO, { audioIn: { sampleRateHz: 8_000 } }, pieces);
  assert.deepEqual(await twilio.roundLevels(5), [1000, 3000, 2000, 4000, 5000]);
  const unnumbered = [1, 2, 3, 4, 5].map((loud) => media(loud * 1000, { chunk: "1" }));
  await using emulation = await connect(EMULATION, { audioIn: { sampleRateHz: 8_000 } }, unnumbered);
  assert.deepEqual(await emulation.roundLevels(5), inOrder);
});

const CHUNKS: Record<string, (at: number) => number> = {
  "stand still": () => 3,
  fall: (at) => 500 - at,
  "begin again": (at) => at % 20,
  "wrap at 16 bits": (at) => (65_500 + at) % 65_536,
  "jump far ahead": (at) => at * 500,
};
for (const [what, chunk] of Object.entries(CHUNKS))
  test(`Telnyx' chunk numbers that ${what} cost the bot none of two seconds`, async () => {
    await using call = await connect(TELNYX, { audioIn: { sampleRateHz: 8_000 } });
    const levels = Array.from({ length: 100 }, (_, at) => 500 + 500 * (at % 20));
    for (const [at, level] of levels.entries()) call.say(media(level, { chunk: String(chunk(at)) }));
    assert.deepEqual(await call.roundLevels(100), levels);
  });

test("the caller hears the bot a little ahead of time, in even pieces", async () => {
  await using call = await connect(TWILIO);
  const startedMs = performance.now();
  call.speak(400);
  const pieces = await call.events("media", 10);
  assert.ok(performance.now() - startedMs >= 200, "and not all at once");
  for (const piece of pieces) {
    assert.equal(piece["streamSid"], "MZ1");
    assert.equal(payloadOf(piece).length, 320, "40 ms");
  }
  const early = call.arrivedMs("media").filter((ms) => ms - call.arrivedMs("media")[0]! < 20);
  assert.ok(early.length >= 2 && early.length < pieces.length, `${early.length} pieces at once`);
});

test("Exotel, whose pieces are long, is one ahead too", async () => {
  await using call = await connect(EXOTEL);
  call.speak(1_000);
  await call.events("media", 3);
  const [first = 0, second = 0, third = 0] = call.arrivedMs("media");
  assert.ok(second - first < 100, `the second came ${second - first} ms after the first`);
  assert.ok(third - second > 100, `the third came ${third - second} ms after the second`);
});

test("whatever the bot's rate, Exotel gets pieces of a size it plays", async () => {
  for (const sampleRateHz of [8_000, 16_000, 22_050, 24_000, 48_000])
    for (const query of ["", "sample-rate=16000", "sample-rate=24000"]) {
      await using call = await connect(EXOTEL, { audioOut: { sampleRateHz } }, [], query);
      call.speak(450);
      for (const piece of await call.events("media", 2)) {
        const bytes = Buffer.from((piece["media"] as { payload: string }).payload, "base64").length;
        assert.ok(bytes >= 3_200 && bytes % 320 === 0, `${bytes} bytes at ${sampleRateHz} Hz, ${query}`);
      }
    }
});

test("drained waits for the carrier's word", async () => {
  await using call = await connect(TWILIO);
  call.speak(100);
  let isDrained = false;
  const drained = call.transport.audioOut.drained({ timeoutMs: 5_000 }).then(() => (isDrained = true));
  const mark = await call.event("mark", (message) => nameOf(message).endsWith(":2400"));
  assert.equal(mark["streamSid"], "MZ1");
  call.say({ event: "mark", mark: { name: "0:2399" } });
  call.say({ event: "mark", mark: { name: "1:2400" } });
  call.say({ event: "mark", mark: { name: "0:999999" } });
  await call.settled();
  assert.equal(isDrained, false);
  assert.equal(Math.ceil(call.transport.audioOut.queuedMs), 1);
  call.say({ event: "mark", mark: { name: nameOf(mark) } });
  await drained;
  assert.equal(call.transport.audioOut.queuedMs, 0);
});

test("with an emulation that knows no marks, sent is heard", async () => {
  await using call = await connect(EMULATION);
  call.speak(100);
  await call.transport.audioOut.drained({ timeoutMs: 5_000 });
  assert.deepEqual(call.received("mark"), []);
});

test("an interruption empties the carrier's queue and ours, and old marks count no more", async () => {
  await using call = await connect(TWILIO);
  call.speak(5_000);
  const [mark] = await call.events("mark", 1);
  call.transport.audioOut.clear();
  const clear = await call.event("clear");
  assert.deepEqual(clear, { event: "clear", streamSid: "MZ1" });
  const sent = call.received("media").length;
  call.say({ event: "mark", mark: { name: nameOf(mark!) } });
  await call.settled();
  assert.equal(call.received("media").length, sent);
  assert.equal(call.transport.audioOut.queuedMs, 0);
  call.speak(40);
  assert.match(nameOf(await call.event("mark", (message) => nameOf(message).startsWith("1:"))), /^1:960$/);
});

for (const [carrier, start] of Object.entries({ TWILIO, TELNYX, PLIVO, EXOTEL }))
  test(`${carrier}: all sixteen keys come out, what is no key does not`, async () => {
    await using call = await connect(start);
    for (const digit of ["E", "", "12", 5, "\n", ..."0123456789*#ABCD"])
      call.say({ event: "dtmf", dtmf: { digit } });
    assert.deepEqual(await call.transport.dtmf.collect({ digits: 16, timeoutMs: patientMs(1_000) }), {
      keys: "0123456789*#ABCD",
      end: "complete",
    });
  });

test("a message that is too large is left out and logged, once for many", async () => {
  await using call = await connect(EXOTEL, { audioIn: { sampleRateHz: 8_000 } });
  for (let copies = 0; copies < 20; copies += 1)
    call.say({ event: "media", media: { payload: "A".repeat(100_000 + copies) } });
  const samples = new Int16Array(160).fill(4_000);
  call.say({ event: "media", media: { payload: Buffer.from(samples.buffer).toString("base64") } });
  assert.deepEqual(await call.roundLevels(1), [4_000]);
  assert.deepEqual(call.logged(), ["carrier message too large, ignored"]);
  assert.deepEqual(call.loggedFields(), [{ carrier: "exotel", bytes: 100_040, maxBytes: 65_536 }]);
});

test("a stop ends the session without a request to hang up", async (context) => {
  const rest = await startRest(context);
  await using call = await connect(TWILIO);
  call.say({ event: "stop", stop: { callSid: "CA1" } });
  assert.equal(await call.called(), "ended: client-left");
  await call.transport.close();
  assert.deepEqual(rest.requests, []);
  assert.equal(await call.closed(), 1000);
});

test("closing hangs up first and closes the socket after", async (context) => {
  const rest = await startRest(context);
  await using call = await connect(TWILIO);
  rest.onRequest = () => assert.equal(call.isOpen(), true);
  await call.transport.close();
  assert.deepEqual(rest.requests, ["POST /2010-04-01/Accounts/AC1/Calls/CA1.json"]);
  assert.equal(await call.closed(), 1000);
});

test("a carrier that vanished is not asked to hang up", async (context) => {
  const rest = await startRest(context);
  await using call = await connect(TWILIO);
  const left = once(call.server, "close");
  call.terminate();
  await left;
  await call.transport.close();
  assert.deepEqual(rest.requests, []);
});

test("what a carrier reports is logged, what it should not send is ignored", async () => {
  await using call = await connect(TELNYX, { audioIn: { sampleRateHz: 8_000 } });
  call.say({ event: "error", payload: { code: 100005, title: "rate_limit_reached" } });
  call.say({ event: "error", payload: { code: { toString: 1, valueOf: 1 } } });
  call.client.send(Buffer.from(JSON.stringify({ event: "stop" })));
  for (const text of ["", "{", "null", "[]", '"stop"', '{"event":"media","media":{"payload":"!!"}}'])
    call.client.send(text);
  call.say(media(4000));
  assert.deepEqual(await call.roundLevels(1), [4000]);
  assert.deepEqual(call.calls, []);
  assert.deepEqual(call.logged(), ["carrier reports a problem", "carrier reports a problem"]);
});

test("messages for applications do not reach telephones", async () => {
  await using call = await connect(TWILIO);
  call.transport.rtvi.serverMessage({ hello: true });
  call.transport.messages.send({ hello: true });
  call.speak(40);
  await call.events("mark", 1);
  assert.deepEqual([...new Set(call.kinds())], ["media", "mark"]);
});

test("a carrier that does not read is left", async () => {
  await using call = await connect({ event: "start", start: { streamSid: "M".repeat(256), callSid: "CA1" } });
  call.client.pause();
  // Audio is sent in real time, interruptions at once.
  const deadlineMs = performance.now() + patientMs(20_000);
  while (call.calls.length === 0 && performance.now() < deadlineMs) {
    for (let interruptions = 0; interruptions < 1_000; interruptions += 1) {
      call.speak(1);
      call.transport.audioOut.clear();
    }
    await pause(50); // gives the writing thread time for them
  }
  assert.equal(call.calls[0], "ended: client-lost");
});

function media(level: number, fields: object = {}): object {
  const payload = encodeWireAudio(new Int16Array(160).fill(level), MULAW);
  return { event: "media", media: { track: "inbound", payload, ...fields } };
}

function payloadOf(message: CarrierMessage): Int16Array {
  return decodeWireAudio((message["media"] as { payload: string }).payload, MULAW);
}

function nameOf(message: CarrierMessage): string {
  return (message["mark"] as { name: string }).name;
}

/** Starts a carrier's REST interface; its address and account are in the environment until the test ends. */
async function startRest(context: TestContext): Promise<{ requests: string[]; onRequest: () => void }> {
  const rest = { requests: [] as string[], onRequest: (): void => undefined };
  const server = createServer((request, response) => {
    rest.requests.push(`${request.method} ${request.url}`);
    rest.onRequest();
    response.end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const set = {
    TWILIO_ACCOUNT_SID: "AC1",
    TWILIO_AUTH_TOKEN: "secret",
    TWILIO_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
  Object.assign(env, set);
  context.after(() => {
    for (const name of Object.keys(set)) delete env[name];
    server.close();
    server.closeAllConnections();
  });
  return rest;
}

async function connect(start: object, options: TransportOptions = {}, early: object[] = [], query = "") {
  const pair = await openSocketPair();
  const messages: { message: CarrierMessage; atMs: number }[] = [];
  const calls: string[] = [];
  let changed = Promise.withResolvers<void>();
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  pair.client.on("message", (data: Buffer) => {
    messages.push({ message: JSON.parse(data.toString()) as CarrierMessage, atMs: performance.now() });
    tell();
  });
  const kept = keepEarlyMessages(pair.server);
  for (const message of [start, ...early]) pair.client.send(JSON.stringify(message));
  const stream = await detectCall(kept.peek, new URLSearchParams(query), undefined);
  await kept.peek(early.length);
  setStreamOf(pair.server, stream);
  const { log, entries, messages: logged } = createCollectedLog();
  const args = createWebSocketArguments({
    sessionId: "s",
    body: {},
    callData: stream.callData,
    cliArgs: undefined,
    signal: new AbortController().signal,
    websocket: pair.server,
    transportType: stream.carrier,
  });
  attachHooks(args, {
    log,
    transportCreated: () => undefined,
    connected: () => undefined,
    failed(error) {
      calls.push(`failed: ${error instanceof Error ? error.message : String(error)}`);
      tell();
    },
    ended(reason) {
      calls.push(`ended: ${reason}`);
      tell();
    },
  });
  const transport: Transport = await createTransport(args, options);
  const frames = transport.audioIn[Symbol.asyncIterator]();

  async function eventually<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      await within(changed.promise, 5_000, "change at the other side");
    }
  }
  const ofKind = (event: string) => messages.filter(({ message }) => message["event"] === event);
  const received = (event: string): CarrierMessage[] => ofKind(event).map(({ message }) => message);

  async function heardLevels(count: number): Promise<number[]> {
    const levels: number[] = [];
    for (let at = 0; at < count; at += 1) {
      const { value } = await within(frames.next(), 5_000, "audio");
      const samples = (value as { samples: Int16Array }).samples;
      levels.push(samples[samples.length - 60]!);
    }
    return levels;
  }

  return {
    transport,
    calls,
    logged,
    loggedFields: () => entries.map(({ fields }) => fields),
    server: pair.server,
    client: pair.client,
    kinds: () => messages.map(({ message }) => message["event"]),
    received,
    arrivedMs: (event: string) => ofKind(event).map(({ atMs }) => atMs),
    say: (message: object) => pair.client.send(JSON.stringify(message)),
    speak(ms: number) {
      const { sampleRateHz } = transport.audioOut;
      const samples = new Int16Array((sampleRateHz * ms) / 1000).fill(1000);
      transport.audioOut.write({ samples, sampleRateHz });
    },
    event: (event: string, isWanted: (message: CarrierMessage) => boolean = () => true) =>
      eventually(() => received(event).find(isWanted)),
    events: (event: string, count: number) =>
      eventually(() => (received(event).length >= count ? received(event) : undefined)),
    called: () => eventually(() => calls[0]),
    closed: () => waitFor(pair.clientClosed(), { what: "the close", timeoutMs: 5_000 }),
    isOpen: () => pair.client.readyState === pair.client.OPEN,
    terminate: () => pair.client.terminate(),
    heardLevels,
    roundLevels: async (count: number) =>
      (await heardLevels(count)).map((level) => Math.round(level / 500) * 500),
    /** Resolves when the other side has processed everything sent before. */
    async settled() {
      const pong = once(pair.client, "pong");
      pair.client.ping();
      await waitFor(pong, { what: "a pong", timeoutMs: 5_000 });
    },
    async [Symbol.asyncDispose]() {
      await transport.close();
      await pair[Symbol.asyncDispose]();
    },
  };
}
