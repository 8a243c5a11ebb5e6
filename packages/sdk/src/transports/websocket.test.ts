import { encodeFrame, limits, parseFrame, type Frame, type RtviMessage } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AudioFilter } from "../filters/audio-filter.ts";
import { createWebSocketArguments } from "../bot/runner-arguments.ts";
import { attachHooks } from "./session-hooks.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { openSocketPair } from "../testing/socket-pair.ts";
import { createTransport } from "./create-transport.ts";
import { keepEarlyMessages } from "./early-messages.ts";
import type { Transport, TransportOptions } from "./transport.ts";

test("the bot hears the client's audio, whatever its rate and channels", async () => {
  await using call = await connect();
  const frames = call.transport.audioIn[Symbol.asyncIterator]();
  call.say(audio({ samples: new Int16Array(320).fill(100) }));
  assert.deepEqual((await frames.next()).value, {
    samples: new Int16Array(320).fill(100),
    sampleRateHz: 16_000,
  });
  call.say(audio({ samples: new Int16Array(640).fill(50), channels: 2 }));
  assert.deepEqual((await frames.next()).value?.samples, new Int16Array(320).fill(50));
  call.say(audio({ samples: new Int16Array(960), sampleRateHz: 48_000 }));
  assert.equal((await frames.next()).value?.samples.length, 320);
});

test("the client hears the bot in chunks of 40 ms at 24 kHz, whatever the bot's rate", async () => {
  for (const sampleRateHz of [24_000, 16_000]) {
    await using call = await connect({ audioOut: { sampleRateHz } });
    call.transport.audioOut.write({ samples: new Int16Array(sampleRateHz / 10).fill(1000), sampleRateHz });
    const chunks = [await call.audio(), await call.audio(), await call.audio()];
    for (const chunk of chunks) {
      const { name, id, channels } = chunk;
      assert.deepEqual(
        { name, id, channels, rate: chunk.sampleRateHz, bytes: chunk.audio.length },
        { name: "audio", id: 0, channels: 1, rate: 24_000, bytes: 1920 },
      );
    }
    await call.transport.audioOut.drained({ timeoutMs: 10_000 });
    assert.equal(call.transport.audioOut.queuedMs, 0);
  }
});

test("the client is told when the bot begins and stops to be heard", async () => {
  await using call = await connect();
  call.transport.audioOut.write({ samples: new Int16Array(24_000), sampleRateHz: 24_000 });
  assert.equal((await call.message()).type, "bot-started-speaking");
  call.transport.audioOut.clear();
  assert.equal((await call.message()).type, "bot-stopped-speaking");
  assert.equal(call.transport.audioOut.queuedMs, 0);
});

test("an interruption is a frame of its own, when there was something to interrupt", async () => {
  await using call = await connect();
  call.transport.audioOut.clear();
  call.transport.audioOut.write({ samples: new Int16Array(24_000), sampleRateHz: 24_000 });
  await call.audio();
  call.transport.audioOut.clear();
  call.transport.audioOut.clear();
  call.transport.messages.send({ label: "mine", last: true });
  while ((await call.message()).type !== undefined);
  assert.deepEqual(
    call.frames().filter(({ kind }) => kind === "interruption"),
    [{ kind: "interruption", id: 0, name: "interruption" }],
  );
});

test("a browser's library, which complains about that frame, is not sent it", async () => {
  await using call = await connect();
  call.say(
    encodeFrame({
      kind: "message",
      data: JSON.stringify({
        label: "rtvi-ai",
        type: "client-ready",
        id: "1",
        data: { version: "2.1.0", about: { library: "@pipecat-ai/client-js" } },
      }),
    }),
  );
  assert.equal((await call.message()).type, "bot-ready");
  call.transport.audioOut.write({ samples: new Int16Array(24_000), sampleRateHz: 24_000 });
  await call.audio();
  call.transport.audioOut.clear();
  call.transport.messages.send({ label: "mine", last: true });
  while ((await call.message()).type !== undefined);
  assert.deepEqual(
    call.frames().filter(({ kind }) => kind === "interruption"),
    [],
  );
});

test("a client may interrupt with that frame too", async () => {
  await using call = await connect();
  const told = new Promise<void>((resolve) => call.transport.on("client-interrupted", resolve));
  call.transport.audioOut.write({ samples: new Int16Array(240_000), sampleRateHz: 24_000 });
  await call.audio();
  call.say(encodeFrame({ kind: "interruption", id: 0, name: "" }));
  await told;
  assert.equal(call.transport.audioOut.queuedMs, 0);
});

test("levels are told where they are asked for", async () => {
  await using call = await connect({ rtvi: { levels: true } });
  call.transport.audioOut.write({ samples: new Int16Array(24_000).fill(8_192), sampleRateHz: 24_000 });
  const heard = new Set<string>();
  while (heard.size < 2) {
    call.say(audio({ samples: new Int16Array(320).fill(16_384) }));
    const { type, data } = (await call.message()) as { type: string; data?: { value: number } };
    if (type === "user-audio-level") assert.equal(data?.value, 0.5);
    if (type === "bot-audio-level") assert.equal(data?.value, 0.25);
    if (type.endsWith("-level")) heard.add(type);
  }
});

test("messages go both ways", async () => {
  await using call = await connect();
  const received: unknown[] = [];
  call.transport.messages.onMessage((message) => void received.push(message));
  call.say(message({ label: "mine", hello: true }));
  call.say(message({ label: "rtvi-ai", id: "1", type: "client-ready", data: { version: "2.1.0" } }));
  assert.equal((await call.message()).type, "bot-ready");
  assert.deepEqual(received[0], { label: "mine", hello: true });
  call.transport.messages.send({ label: "mine", answer: 1 });
  assert.deepEqual(await call.message(), { label: "mine", answer: 1 });
});

test("a bot that adds its listeners at once misses nothing", async () => {
  await using call = await connect({}, [
    message({ label: "rtvi-ai", id: "1", type: "client-ready", data: { version: "2.1.0" } }),
    message({ label: "rtvi-ai", id: "2", type: "client-message", data: { t: "early" } }),
  ]);
  const heard: string[] = [];
  call.transport.on("client-connected", () => void heard.push("client-connected"));
  call.transport.rtvi.on("client-ready", () => void heard.push("client-ready"));
  call.transport.rtvi.on("client-message", ({ type, respond }) => {
    heard.push(type);
    respond("got it");
  });
  assert.equal((await call.message()).type, "bot-ready");
  assert.equal((await call.message()).type, "server-response");
  assert.deepEqual(heard, ["client-connected", "client-ready", "early"]);
});

test("keys pressed come out as a stream", async () => {
  await using call = await connect();
  call.say(message({ label: "rtvi-ai", id: "1", type: "dtmf", data: { buttons: ["4", "2"] } }));
  const keys = call.transport.dtmf[Symbol.asyncIterator]();
  assert.deepEqual([(await keys.next()).value, (await keys.next()).value], ["4", "2"]);
});

test("what is not a frame we know ends the connection or is ignored", async () => {
  const tooLarge = new Int16Array(limits.audioFrameBytes / 2 + 1);
  const refused: [Uint8Array, number][] = [
    [Uint8Array.of(1, 2, 3), 1007],
    [encodeFrame({ kind: "message", data: "{" }), 1007],
    [audio({ samples: new Int16Array(10), sampleRateHz: 7999 }), 1007],
    [audio({ samples: new Int16Array(10), sampleRateHz: 48_001 }), 1007],
    [audio({ samples: tooLarge }), 1009],
  ];
  for (const [bytes, code] of refused) {
    await using call = await connect();
    call.say(bytes);
    assert.equal(await call.closed(), code);
    assert.deepEqual(call.calls, []);
  }
  const ignored = [
    "text is not for us",
    encodeFrame({ kind: "text", id: 0, name: "", text: "hi" }),
    encodeFrame({ kind: "interruption", id: 0, name: "" }),
    encodeFrame({ kind: "transcription", id: 0, name: "", text: "", userId: "", timestamp: "" }),
  ];
  await using call = await connect();
  for (const bytes of ignored) call.say(bytes);
  call.say(message({ label: "rtvi-ai", id: "1", type: "client-ready", data: { version: "2.1.0" } }));
  assert.equal((await call.message()).type, "bot-ready");
});

test("what the bot's listeners throw is told to the session", async () => {
  await using call = await connect();
  const oops = (): never => {
    throw new Error("oops");
  };
  call.transport.on("client-connected", oops);
  assert.equal(await call.called(), "failed: oops");
  call.transport.rtvi.on("send-text", oops);
  call.say(message({ label: "rtvi-ai", id: "1", type: "send-text", data: { content: "x" } }));
  assert.equal(await call.called(), "failed: oops");
  call.transport.on("client-disconnected", oops);
  call.client.close();
  assert.equal(await call.called(), "failed: oops");
});

test("a client may ask for the end", async () => {
  await using call = await connect();
  call.say(message({ label: "rtvi-ai", id: "1", type: "disconnect-bot", data: {} }));
  assert.equal(await call.called(), "ended: client-left");
});

test("a client that does not read is left", async () => {
  await using call = await connect();
  call.client.pause();
  const megabyte = "x".repeat(1024 * 1024);
  while (call.calls.length === 0) {
    call.transport.rtvi.serverMessage(megabyte);
    await new Promise(setImmediate);
  }
  assert.deepEqual(call.calls, ["ended: client-lost"]);
  assert.deepEqual(call.logged(), ["client does not read, closing"]);
});

test("closing says goodbye, ends every stream and disposes of the filter", async () => {
  const steps: string[] = [];
  const filter: AudioFilter = {
    open({ sampleRateHz }) {
      steps.push(`open at ${sampleRateHz}`);
      return { process: (samples) => samples, dispose: () => void steps.push("dispose") };
    },
  };
  await using call = await connect({ audioIn: { filter, sampleRateHz: 8_000 } });
  await using transport = call.transport;
  const next = transport.audioIn[Symbol.asyncIterator]().next();
  const key = transport.dtmf[Symbol.asyncIterator]().next();
  await transport.close();
  await transport.close();
  assert.equal(await call.closed(), 1000);
  assert.deepEqual([(await next).done, (await key).done], [true, true]);
  assert.equal(transport.audioOut.write({ samples: new Int16Array(10), sampleRateHz: 24_000 }), false);
  assert.deepEqual(steps, ["open at 8000", "dispose"]);
});

test("the end of the session ends what the bot waits for", async () => {
  await using call = await connect();
  call.transport.audioOut.write({ samples: new Int16Array(240_000), sampleRateHz: 24_000 });
  const waits = [
    call.transport.audioIn[Symbol.asyncIterator]().next(),
    call.transport.audioOut.drained(),
    call.transport.audioOut.ready(),
  ];
  call.session.abort("stopped");
  await Promise.all(waits);
});

test("rates that cannot be are refused with their name", async () => {
  for (const [options, text] of [
    [{ audioIn: { sampleRateHz: 7_000 } }, /^audioIn\.sampleRateHz must be .* got 7000$/],
    [{ audioOut: { sampleRateHz: 24_000.5 } }, /^audioOut\.sampleRateHz must be .* got 24000\.5$/],
  ] as const)
    await assert.rejects(connect(options), { name: "RangeError", message: text });
});

async function connect(options: TransportOptions = {}, early: Uint8Array[] = []) {
  await using stack = new AsyncDisposableStack();
  const pair = stack.use(await openSocketPair());
  const session = new AbortController();
  const calls: string[] = [];
  const { log, messages } = createCollectedLog();
  const args = createWebSocketArguments({
    sessionId: "ses",
    body: {},
    callData: null,
    cliArgs: undefined,
    signal: session.signal,
    websocket: pair.server,
    transportType: "websocket",
  });
  const created: Transport[] = [];
  const called = createInbox<string>();
  const note = (call: string): void => {
    calls.push(call);
    called.put(call);
  };
  attachHooks(args, {
    log,
    transportCreated: (transport) => void created.push(transport),
    connected: () => undefined,
    failed: (error) => note(`failed: ${(error as Error).message}`),
    ended: (reason) => note(`ended: ${reason}`),
  });
  const frames: Frame[] = [];
  const heard = { audio: createInbox<AudioData>(), message: createInbox<RtviMessage>() };
  pair.client.on("message", (data) => {
    const frame = parseFrame(data as Buffer);
    frames.push(frame);
    if (frame.kind === "audio") heard.audio.put(frame);
    if (frame.kind === "message") heard.message.put(JSON.parse(frame.data) as RtviMessage);
  });
  const kept = keepEarlyMessages(pair.server);
  for (const bytes of early) pair.client.send(bytes);
  if (early.length > 0) await kept.peek(early.length - 1);
  const transport = await createTransport(args, options);
  assert.deepEqual(created, [transport]);
  stack.defer(() => transport.close());
  const owned = stack.move();
  return {
    transport,
    client: pair.client,
    session,
    calls,
    logged: messages,
    say: (data: Uint8Array | string) => pair.client.send(data),
    frames: () => frames,
    audio: heard.audio.take,
    message: heard.message.take,
    called: called.take,
    closed: pair.clientClosed,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type AudioData = Extract<Frame, { kind: "audio" }>;

function audio({
  samples,
  sampleRateHz = 16_000,
  channels = 1,
}: {
  samples: Int16Array;
  sampleRateHz?: number;
  channels?: number;
}) {
  const bytes = new Uint8Array(samples.buffer);
  return encodeFrame({ kind: "audio", id: 0, name: "audio", audio: bytes, sampleRateHz, channels });
}

function message(data: object): Uint8Array {
  return encodeFrame({ kind: "message", data: JSON.stringify(data) });
}

function createInbox<T>() {
  const items: T[] = [];
  let arrived = Promise.withResolvers<void>();
  return {
    put(item: T) {
      items.push(item);
      arrived.resolve();
    },
    async take(): Promise<T> {
      for (;;) {
        const item = items.shift();
        if (item !== undefined) return item;
        arrived = Promise.withResolvers();
        await arrived.promise;
      }
    },
  };
}
