import assert from "node:assert/strict";
import { test } from "node:test";
import { until, within } from "../../../../testing/wait.ts";
import { createAudioInput, type AudioInputSource } from "./audio-input.ts";
import { createAudioOutput } from "./audio-output.ts";
import { bridge } from "./bridge.ts";
import type { Transport } from "./transport.ts";

const RATE_HZ = 16_000;
const FRAME = RATE_HZ / 50;

interface Side {
  transport: Transport;
  ear: AudioInputSource;
  /** Samples that were played to this side. */
  played: number[];
}

/** Creates the audio of a transport without a connection. */
function createSide(): Side {
  const played: number[] = [];
  const ear = createAudioInput({ sampleRateHz: RATE_HZ, maxQueuedMs: 10_000, filter: undefined });
  const mouth = createAudioOutput({
    sampleRateHz: RATE_HZ,
    maxQueuedMs: 60_000,
    play: (samples) => void played.push(...samples),
    clear: () => undefined,
    pause: () => undefined,
  });
  return { transport: { audioIn: ear.input, audioOut: mouth.output } as Transport, ear, played };
}

function say(side: Side, value: number, frames = 1): void {
  side.ear.push(new Int16Array(FRAME * frames).fill(value), RATE_HZ);
}

test("each side hears the other, until one is gone", async () => {
  const [call, room] = [createSide(), createSide()];
  const bridged = bridge(call.transport, room.transport);
  say(call, 1);
  say(room, 2);
  await until(() => room.played.length > 0 && call.played.length > 0, 1_000, "audio on both sides");
  assert.deepEqual([new Set(room.played), new Set(call.played)], [new Set([1]), new Set([2])]);
  room.ear.end();
  await within(bridged, 1_000, "end");
  say(call, 3);
  assert.equal(await nextOf(call), 3, "what the caller says afterwards is for the bot");
  assert.ok(!room.played.includes(3));
});

test("a signal takes the two apart and leaves both whole", async () => {
  const [call, room] = [createSide(), createSide()];
  const apart = new AbortController();
  const bridged = bridge(call.transport, room.transport, { signal: apart.signal });
  apart.abort();
  await within(bridged, 1_000, "end");
  await bridge(call.transport, room.transport, { signal: apart.signal });
  for (const side of [call, room]) {
    say(side, 4);
    assert.equal(await nextOf(side), 4);
  }
});

test("what comes in a burst does not delay all that follows", async () => {
  const [call, room] = [createSide(), createSide()];
  say(call, 1, 100); // two seconds at once
  const bridged = bridge(call.transport, room.transport);
  call.ear.end();
  await within(bridged, 1_000, "end");
  const heardMs = (room.played.length * 1000) / RATE_HZ;
  assert.ok(heardMs >= 200 && heardMs < 1_000, `${heardMs} ms were passed on`);
});

/** Returns the next value that the bot hears. */
async function nextOf({ transport }: Side): Promise<number | undefined> {
  for await (const { samples } of transport.audioIn) return samples[0];
  return undefined;
}
