import { encodeFrame, newSessionId, parseFrame } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { WebSocket } from "ws";
import type { Bot } from "../bot/bot.ts";
import { createWebSocketArguments, type RunnerArguments } from "../bot/runner-arguments.ts";
import { SessionEnded } from "./session-ended.ts";
import { hooksOf } from "../transports/session-hooks.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { openSocketPair } from "../testing/socket-pair.ts";
import { createTransport } from "../transports/create-transport.ts";
import type { AudioDrop, AudioOutput, Transport } from "../transports/transport.ts";
import type { Client } from "./client.ts";
import { createSession, sessionOfRunningCode, type SessionOptions } from "./session.ts";

const never = new Promise<never>(() => {});
const untilAborted = ({ signal }: RunnerArguments): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

test("a session waits, runs, and is over when its bot is", async () => {
  const { session, run, over, ended } = start();
  assert.equal(session.state, "waiting");
  const bot = Promise.withResolvers<void>();
  run(() => bot.promise);
  assert.equal(session.state, "running");
  assert.equal(session.signal.aborted, false);
  bot.resolve();
  assert.equal(await over(), "bot-finished");
  assert.equal(session.state, "ended");
  assert.equal(session.signal.reason.reason, "bot-finished");
  assert.equal(ended(), 1);
});

test("a bot that fails ends its session and is logged, however it fails", async () => {
  const failures: Bot[] = [
    () => {
      throw new Error("at once");
    },
    async () => {
      await nextTurn();
      throw new Error("later");
    },
    () => Promise.reject(new Error("rejected")),
    () => Promise.reject(undefined),
    () => Promise.reject("text"),
  ];
  for (const bot of failures) {
    const { run, over, messages, ended } = start();
    run(bot);
    assert.equal(await over(), "bot-failed");
    assert.deepEqual(messages(), ["session started", "bot failed", "session ended"]);
    assert.equal(ended(), 1);
  }
});

test("a client that cannot be told of the end keeps no session open", async () => {
  const { session, run, over, ended } = start();
  const bent = (): never => assert.fail("the bot has put another function in its place");
  session.client = {
    ...{ id: undefined, isConnected: true, onConnected: () => undefined, closed: async () => undefined },
    ...{ botFailed: bent, close: bent },
  };
  run(() => Promise.reject(new Error("no")));
  assert.equal(await over(), "bot-failed");
  assert.equal(ended(), 1);
});

test("a bot that gives back no promise is finished", async () => {
  const { run, over } = start();
  run((() => undefined) as unknown as Bot);
  assert.equal(await over(), "bot-finished");
});

test("ending aborts the bot with the reason and waits for it", async () => {
  const { session, run, over } = start();
  const steps: string[] = [];
  run(async (args) => {
    await untilAborted(args);
    await nextTurn();
    steps.push(`bot saw ${(args.signal.reason as SessionEnded).reason}`);
  });
  await session.end("stopped");
  steps.push("ended");
  assert.deepEqual(steps, ["bot saw stopped", "ended"]);
  assert.equal(await over(), "stopped");
});

test("the first reason stays, every caller waits for the same end", async () => {
  const { session, run, over } = start();
  run(untilAborted);
  await Promise.all([session.end("client-left"), session.end("shutdown"), session.end("stopped")]);
  await session.end("stopped");
  assert.equal(await over(), "client-left");
});

test("a bot that throws because it was stopped has not failed", async () => {
  const { session, run, over, messages } = start();
  run(async (args) => {
    await untilAborted(args);
    args.signal.throwIfAborted();
  });
  await session.end("client-left");
  assert.equal(await over(), "client-left");
  assert.deepEqual(messages(), ["session started", "session ended"]);
});

test("a bot that does not return when its signal aborts is abandoned", async () => {
  const { session, run, over, messages } = start({ stopGraceMs: 1 });
  run(() => never);
  await session.end("shutdown");
  assert.equal(await over(), "shutdown");
  assert.deepEqual(messages(), [
    "session started",
    "bot did not return when its signal aborted, abandoned",
    "session ended",
  ]);
});

test("a client that never comes is not waited for for ever", async () => {
  const { session, run, over, ended } = start({ connectDeadlineMs: 1 });
  assert.equal(await over(), "never-connected");
  let called = false;
  run(async () => void (called = true));
  assert.equal(called, false);
  assert.equal(session.signal.reason.reason, "never-connected");
  assert.equal(ended(), 1);
});

test("a session ended before its client came never runs its bot", async () => {
  const { session, run, over } = start();
  await session.end("shutdown");
  let called = false;
  run(async () => void (called = true));
  assert.equal(called, false);
  assert.equal(await over(), "shutdown");
});

test("a bot is called once", async () => {
  const { session, run } = start();
  let calls = 0;
  const bot: Bot = (args) => {
    calls += 1;
    return untilAborted(args);
  };
  run(bot);
  run(bot);
  await session.end("stopped");
  run(bot);
  assert.equal(calls, 1);
});

test("a session leaves no timer behind", async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  const before = timers();
  const waiting = start();
  await waiting.session.end("stopped");
  const running = start();
  running.run(untilAborted);
  await running.session.end("stopped");
  await nextTurn();
  assert.ok(timers() <= before);
});

test("what a finished bot still has to say is heard first", async () => {
  await using pair = await openSocketPair();
  const { run, over } = start({ websocket: pair.server });
  let bytes = 0;
  pair.client.on("message", (data) => {
    const frame = parseFrame(data as Buffer);
    if (frame.kind === "audio") bytes += frame.audio.length;
  });
  run(async (args) => {
    const transport = await createTransport(args);
    transport.audioOut.write({ samples: new Int16Array(4800).fill(1), sampleRateHz: 24_000 });
  });
  assert.equal(await over(), "bot-finished");
  assert.equal(await pair.clientClosed(), 1000);
  assert.equal(bytes, 2 * 4800);
});

test("last words are cut short when they take too long or the session is ended", async () => {
  const tooLong = { samples: new Int16Array(24_000 * 30), sampleRateHz: 24_000 };
  for (const [options, reason] of [
    [{ lastWordsMs: 1 }, "bot-finished"],
    [{}, "client-left"],
  ] as const) {
    await using pair = await openSocketPair();
    const { session, run, over } = start({ ...options, websocket: pair.server });
    const written = Promise.withResolvers<void>();
    run(async (args) => {
      const transport = await createTransport(args);
      transport.audioOut.write(tooLong);
      written.resolve();
    });
    await written.promise;
    await nextTurn();
    if (reason === "client-left") await session.end(reason);
    assert.equal(await over(), reason);
  }
});

test("last words that are cut short are told of, and the bot says how long they may take", async () => {
  await using pair = await openSocketPair();
  const { run, over, entries } = start({ websocket: pair.server });
  const drops: AudioDrop[] = [];
  let output: AudioOutput | undefined;
  run(async (args) => {
    const transport = await createTransport(args, { audioOut: { lastWordsMs: 50 } });
    transport.on("audio-dropped", (drop) => void drops.push(drop));
    output = transport.audioOut;
    output.write({ samples: new Int16Array(24_000 * 30), sampleRateHz: 24_000 });
  });
  assert.equal(await over(), "bot-finished");
  const warned = entries.find(({ message }) => message === "audio dropped");
  assert.equal(warned?.level, "warn");
  assert.match(String(warned?.fields["why"]), /lastWordsMs/);
  assert.deepEqual(
    drops.map(({ where }) => where),
    ["audioOut"],
  );
  assert.ok(drops[0]!.ms > 20_000 && output?.droppedMs === drops[0]!.ms, `${drops[0]!.ms} ms`);
});

test("a client's goodbye over the transport ends the session", async () => {
  await using pair = await openSocketPair();
  const { run, over } = start({ websocket: pair.server });
  run(async (args) => {
    const transport = await createTransport(args);
    await transport.audioIn[Symbol.asyncIterator]().next();
  });
  const goodbye = { label: "rtvi-ai", id: "1", type: "disconnect-bot", data: {} };
  pair.client.send(encodeFrame({ kind: "message", data: JSON.stringify(goodbye) }));
  assert.equal(await over(), "client-left");
});

test("what goes wrong outside the bot's promise ends its session", async () => {
  for (const fail of [
    ({ session }: ReturnType<typeof start>) => session.fail(new Error("in a timer")),
    ({ args }: ReturnType<typeof start>) => hooksOf(args).failed(new Error("in a listener")),
  ]) {
    const started = start();
    started.run(untilAborted);
    fail(started);
    assert.equal(await started.over(), "bot-failed");
    assert.deepEqual(started.messages(), ["session started", "bot failed", "session ended"]);
    started.session.fail(new Error("too late to matter"));
    assert.equal(started.ended(), 1);
  }
});

test("the reason of the signal is an error that says why, and no failure of a bot that forgets it", async () => {
  const { session, args, run, over, messages } = start();
  run(untilAborted);
  const waiting = once(new EventEmitter(), "never", { signal: args.signal });
  void session.end("client-lost");
  await assert.rejects(waiting, (error: Error) => error.name === "AbortError");
  const reason: unknown = args.signal.reason;
  assert.ok(reason instanceof Error && reason instanceof SessionEnded);
  assert.deepEqual([reason.name, reason.reason], ["AbortError", "client-lost"]);
  assert.equal(reason.message, "The session ended: client-lost");
  assert.throws(() => args.signal.throwIfAborted(), reason);
  session.fail(reason); // as when an unhandled promise rejects with it
  assert.equal(await over(), "client-lost");
  assert.ok(!messages().includes("bot failed"));
});

test("the session of running code is known, also later and elsewhere", async () => {
  const [first, second] = [start(), start()];
  const seen: unknown[] = [];
  for (const { run } of [first, second])
    run(async () => {
      seen.push(sessionOfRunningCode());
      await nextTurn();
      seen.push(sessionOfRunningCode());
    });
  await Promise.all([first.over(), second.over()]);
  assert.deepEqual(
    seen.map((session) => session === first.session),
    [true, false, true, false],
  );
  assert.equal(sessionOfRunningCode(), undefined);
});

test("everything the session has is closed at its end, whatever one of them does", async () => {
  const { session, args, run, over, messages } = start();
  const closed: string[] = [];
  run(untilAborted);
  const transport = (close: () => Promise<void>) =>
    ({ close, audioOut: { on() {} } }) as unknown as Transport;
  hooksOf(args).transportCreated(transport(() => Promise.reject(new Error("stuck"))));
  hooksOf(args).transportCreated(transport(async () => void closed.push("transport")));
  session.client = { close: () => void closed.push("client") } as unknown as Client;
  await session.end("stopped");
  assert.equal(await over(), "stopped");
  assert.deepEqual(closed, ["transport", "client"]);
  assert.ok(messages().includes("transport did not close cleanly"));
});

interface StartOptions extends Pick<
  Partial<SessionOptions>,
  "connectDeadlineMs" | "stopGraceMs" | "lastWordsMs"
> {
  websocket?: WebSocket;
}

function start({ websocket, ...timing }: StartOptions = {}) {
  const { log, entries, messages } = createCollectedLog();
  let endings = 0;
  const done = Promise.withResolvers<void>();
  const session = createSession({
    id: newSessionId(),
    transport: "websocket",
    body: {},
    log,
    connectDeadlineMs: 60_000,
    ...timing,
    ended() {
      endings += 1;
      done.resolve();
    },
  });
  const args = createWebSocketArguments({
    sessionId: session.id,
    body: {},
    callData: null,
    cliArgs: undefined,
    signal: session.signal,
    websocket: websocket ?? ({} as WebSocket),
    transportType: "websocket",
  });
  return {
    session,
    args,
    messages,
    entries,
    ended: () => endings,
    run: (bot: Bot) => session.run(bot, args),
    /** Resolves with the reason once the session is over. */
    async over() {
      await done.promise;
      await session.end("stopped"); // the log line follows
      return entries.find(({ message }) => message === "session ended")?.fields["reason"];
    },
  };
}
