import { samplesIn } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { patientMs } from "../../../../testing/patience.ts";
import { eventually, pause, until } from "../../../../testing/wait.ts";
import type { AudioDrop } from "./transport.ts";
import { closeFarRooms, openRoom } from "../testing/far-room.ts";
import { closeFarEnds, farEnds, openPeer, type FarEnd, type HeardPiece } from "../testing/far-ends.ts";

// Promises to bots that every kind of connection keeps.

after(closeFarEnds);
after(closeFarRooms);

for (const { name, open } of [...farEnds, { name: "room", open: openRoom }]) {
  test(`${name}: what is written may be overwritten at once`, async () => {
    await using end = await open();
    const { audioOut } = end.transport;
    const buffer = tone(200);
    for (let piece = 0; piece < 3; piece += 1) {
      buffer.set(tone(200));
      audioOut.write({ samples: buffer, sampleRateHz: RATE_HZ });
      buffer.fill(0);
    }
    await heardMs(end, 600);
    const loudMs = loudness(end.heard()).filter((level) => level > TONE_LEVEL / 2).length * WINDOW_MS;
    assert.ok(loudMs >= 500, `${loudMs} ms of 600 are heard`);
  });

  test(`${name}: what was heard is known, when it is cut and when it ends`, async () => {
    await using end = await open();
    const { audioOut } = end.transport;
    audioOut.write({ samples: tone(4_000), sampleRateHz: RATE_HZ });
    const drained = audioOut.drained();
    await heardMs(end, 400);
    const cut = audioOut.clear();
    assert.deepEqual(await drained, cut);
    assert.ok(cut.interrupted);
    // Clients play what was already sent, carriers drop it; they buffer up to 400 ms.
    assert.ok(cut.playedMs > 0 && cut.playedMs < patientMs(300), `${cut.playedMs} ms`);
    audioOut.write({ samples: tone(200), sampleRateHz: RATE_HZ });
    assert.deepEqual(await audioOut.drained({ timeoutMs: patientMs(5_000) }), {
      playedMs: 200,
      interrupted: false,
    });
  });

  test(`${name}: nothing of what was cut off is heard later`, async () => {
    const sampleRateHz = 22_050; // native to no connection, so it is always resampled
    await using end = await open({ audioOut: { sampleRateHz } });
    const { audioOut } = end.transport;
    audioOut.write({ samples: tone(1_000, sampleRateHz), sampleRateHz });
    await heardMs(end, 300);
    audioOut.clear();
    await quiet(end);
    const before = end.heard().length;
    audioOut.write({ samples: new Int16Array(sampleRateHz / 5), sampleRateHz });
    await audioOut.drained({ timeoutMs: patientMs(5_000) });
    const peaks = loudness(end.heard().slice(before));
    assert.ok(
      peaks.every((peak) => peak < 50),
      `peaks of ${peaks.join()}`,
    );
  });

  test(`${name}: audio that does not fit is told of`, async () => {
    await using end = await open({ audioOut: { maxQueuedMs: 500 } });
    const { audioOut } = end.transport;
    const drops: AudioDrop[] = [];
    end.transport.on("audio-dropped", (drop) => void drops.push(drop));
    audioOut.write({ samples: tone(800), sampleRateHz: RATE_HZ });
    assert.deepEqual(drops, [{ where: "audioOut", ms: 300 }]);
    assert.equal(audioOut.droppedMs, 300);
    const warned = end.logged.filter(({ level }) => level === "warn");
    assert.deepEqual(
      warned.map(({ message, fields }) => [message, fields["droppedMs"]]),
      [["audio dropped", 300]],
    );
  });

  test(`${name}: a pause holds the voice back and nothing of it is lost`, async () => {
    await using end = await open();
    const { audioOut } = end.transport;
    const events: string[] = [];
    audioOut.on("started", () => void events.push("started"));
    audioOut.on("stopped", () => void events.push("stopped"));
    audioOut.write({ samples: tone(1_000), sampleRateHz: RATE_HZ });
    await heardMs(end, 300);
    await until(() => audioOut.playedMs > 0, 5_000, "voice that counts as heard"); // some of it is sent ahead
    audioOut.pause();
    await until(() => events.includes("stopped"), 5_000, "silence");
    const { playedMs } = audioOut;
    await quiet(end);
    assert.ok(audioOut.queuedMs > 0, "the rest waits");
    audioOut.resume();
    const { interrupted, playedMs: inAll } = await audioOut.drained({ timeoutMs: patientMs(5_000) });
    assert.deepEqual([interrupted, inAll], [false, 1_000]);
    assert.ok(playedMs > 0 && playedMs < 1_000, `${playedMs} ms before the pause`);
    assert.deepEqual(events.slice(0, 3), ["started", "stopped", "started"]);
  });
}

test("webrtc: a client is told how much of its voice gets lost", async () => {
  await using client = await openPeer();
  client.send(400, { loseEvery: 5 });
  const reports = await eventually({
    what: "three reports",
    look: () => client.reportedLossPercent.slice(),
    until: ({ length }) => length >= 3,
  });
  // The first may cover the time before.
  for (const percent of reports.slice(1)) assert.ok(percent > 10 && percent < 30, `${percent} % of 20`);
});

test("webrtc: a client that stopped reading is given up, not written for without end", async () => {
  await using client = await openPeer();
  client.freeze();
  const text = "x".repeat(1024);
  for (let kib = 0; kib < 4 * 1024; kib += 1) client.transport.rtvi.serverMessage({ text });
  await until(() => client.closed.length > 0, 5_000, "end of the session");
  assert.deepEqual(client.closed, ["ended: client-lost, does not read"]);
});

/** Resolves when nothing new has arrived for a while. */
async function quiet(end: FarEnd): Promise<void> {
  for (let before = -1; before !== end.heard().length; await pause(QUIET_MS)) before = end.heard().length;
}

const QUIET_MS = 300;
const RATE_HZ = 24_000;
const TONE_LEVEL = 12_000;
const WINDOW_MS = 20;

/** 400 Hz: whole periods in every 20 ms, so that pieces join without a click. */
function tone(ms: number, rateHz = RATE_HZ): Int16Array {
  return Int16Array.from({ length: samplesIn(ms, rateHz) }, (_, at) =>
    Math.round(TONE_LEVEL * Math.sin((2 * Math.PI * 400 * at) / rateHz)),
  );
}

function heardMs(end: FarEnd, wantedMs: number): Promise<unknown> {
  const soFarMs = (): number =>
    end.heard().reduce((sum, piece) => sum + (piece.samples.length * 1000) / piece.sampleRateHz, 0);
  return until(() => soFarMs() >= wantedMs, 5_000, `${wantedMs} ms of the bot's voice`);
}

/** Returns the peak of every 20 ms. */
function loudness(pieces: HeardPiece[]): number[] {
  return pieces.flatMap(({ samples, sampleRateHz }) => {
    const window = samplesIn(WINDOW_MS, sampleRateHz);
    return Array.from({ length: Math.ceil(samples.length / window) }, (_, at) =>
      samples.subarray(at * window, (at + 1) * window).reduce((peak, s) => Math.max(peak, Math.abs(s)), 0),
    );
  });
}
