import { parseFrame, encodeFrame } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { size } from "../../../../testing/sizes.ts";
import { pause, until, within } from "../../../../testing/wait.ts";
import { openSocketPair } from "../testing/socket-pair.ts";
import type { VoiceSettings } from "./messages.ts";
import type { Line, LineNews } from "./pacing-thread.ts";
import { takeOverSocket } from "./take-over-socket.ts";

const settings: VoiceSettings = {
  sampleRateHz: 24_000,
  wireHz: 24_000,
  chunkMs: 20,
  leadMs: 80,
  rewindMs: 0,
  maxQueuedMs: 60_000,
  unreadMaxBytes: 1024 * 1024,
  format: { kind: "frames" },
};

function takeOver(
  socket: Parameters<typeof takeOverSocket>[0],
  tell: (news: LineNews) => void = () => {},
): Line {
  const line = takeOverSocket(socket, settings, tell);
  assert.ok(line, "a plain socket can be taken over");
  return line;
}

test("long messages and the voice do not tear each other", async () => {
  await using pair = await openSocketPair();
  const line = takeOver(pair.server);
  const texts: string[] = [];
  let audioMs = 0;
  pair.client.on("message", (data: Buffer) => {
    const frame = parseFrame(data);
    if (frame.kind === "message") texts.push(frame.data);
    else if (frame.kind === "audio") audioMs += frame.audio.length / 48;
  });
  const sent = Array.from({ length: 20 }, (_, at) => `${at}:${"x".repeat(300_000)}`);
  line.post({ type: "audio", samples: new Int16Array(24_000 / 2).fill(1) });
  for (const data of sent) {
    pair.server.send(encodeFrame({ kind: "message", data }));
    await pause(5);
  }
  await until(() => texts.length === sent.length && audioMs >= 500, 10_000, "all of it");
  assert.deepEqual(texts, sent);
});

test("what was said before the goodbye arrives before it", async () => {
  await using pair = await openSocketPair();
  takeOver(pair.server);
  const texts: string[] = [];
  pair.client.on("message", (data: Buffer) => void texts.push(data.toString()));
  for (let at = 0; at < 50; at += 1) pair.server.send(`${at}:${"x".repeat(50_000)}`);
  pair.server.close(1000);
  assert.equal(await within(pair.clientClosed(), 10_000, "goodbye"), 1000);
  assert.equal(texts.length, 50);
});

test("a socket that does not read is told of, and can be let go", async () => {
  await using pair = await openSocketPair();
  const news: LineNews[] = [];
  takeOver(pair.server, (told) => void news.push(told));
  pair.client.pause();
  const piece = "x".repeat(500_000);
  await until(
    () => {
      pair.server.send(piece);
      return news.some(({ type }) => type === "unread");
    },
    10_000,
    "news",
  );
  pair.server.terminate();
  await once(pair.server, "close");
});

test("data that arrives at a closing socket does no harm", async () => {
  for (let at = 0; at < 20; at += 1) {
    await using pair = await openSocketPair();
    takeOver(pair.server);
    const piece = "x".repeat(100_000);
    for (let more = 0; more < 20; more += 1) pair.client.send(piece);
    await once(pair.server, "message");
    pair.server.terminate(); // an exception in the stream would end the process
  }
});

// Descriptors are reused by the next connection: a write to a closed one would reach another call.
test("voices never reach the wrong call, however sockets come and go", async () => {
  let lastVoice = 0;
  async function call(): Promise<void> {
    await using pair = await openSocketPair();
    lastVoice += 1;
    const voice = lastVoice;
    const heard = new Set<number>();
    pair.client.on("message", (data: Buffer) => {
      const frame = parseFrame(data);
      if (frame.kind === "audio") heard.add(new Int16Array(Uint8Array.from(frame.audio).buffer)[0] ?? 0);
    });
    const line = takeOver(pair.server);
    line.post({ type: "audio", samples: new Int16Array(24_000).fill(voice) });
    await until(() => heard.size > 0, 5_000, "voice");
    await pause(voice % 7);
    if (voice % 3 === 0) pair.server.terminate();
    else if (voice % 3 === 1) pair.client.terminate();
    await pause(voice % 5);
    assert.deepEqual([...heard], [voice]);
  }
  async function calls(count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) await call();
  }
  await Promise.all(Array.from({ length: 8 }, () => calls(size(8, 100))));
});
