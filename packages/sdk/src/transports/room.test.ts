import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Room } from "@livekit/rtc-node";
import { eventually } from "../../../../testing/wait.ts";
import { closeFarRooms, openRoom, type FarRoom } from "../testing/far-room.ts";
import { loadLiveKitClient } from "./config.ts";

after(closeFarRooms);

const FOR_GOOD_MS = 600_000; // longer than any test

test("the last person may come back, and is heard", async () => {
  await using far = await openRoom({ room: { departureTimeoutMs: FOR_GOOD_MS } });
  const events = eventsOf(far);
  const again = await far.join("listener"); // a second connection with the same identity replaces the first
  await seen(events, [
    "participant-left listener",
    "client-disconnected",
    "participant-joined listener",
    "client-connected",
  ]);
  const [frame] = await Promise.all([firstSound(far), speak(again)]);
  assert.ok(frame);
  await again.disconnect();
  const other = await far.join("other");
  await seen(events, [
    "participant-left listener",
    "client-disconnected",
    "participant-joined other",
    "client-connected",
  ]);
  assert.equal(other.isConnected, true);
  assert.deepEqual(far.calls, []);
});

test("the session ends when no person comes back, and not while one is there", async () => {
  await using far = await openRoom({ room: { departureTimeoutMs: 1 } });
  const other = await far.join("other");
  const events = eventsOf(far);
  await eventually({
    what: "the bot sees both",
    look: () => far.transport.room?.participants.length,
    until: (count) => count === 2,
  });
  events.length = 0;
  await far.listener.disconnect();
  await seen(events, ["participant-left listener"]);
  assert.deepEqual(far.calls, []);
  await other.disconnect();
  await eventually({
    what: "the session ends",
    look: () => far.calls,
    until: (calls) => calls[0] === "ended: client-left",
  });
  assert.deepEqual(events, ["participant-left listener", "participant-left other", "client-disconnected"]);
});

function eventsOf({ transport }: FarRoom): string[] {
  const events: string[] = [];
  for (const name of ["client-connected", "client-disconnected"] as const)
    transport.on(name, () => void events.push(name));
  for (const name of ["participant-joined", "participant-left"] as const)
    transport.room?.on(name, ({ identity }) => void events.push(`${name} ${identity}`));
  return events;
}

async function seen(events: string[], wanted: string[]): Promise<void> {
  await eventually({
    what: `the bot is told ${wanted.join(", ")}`,
    look: () => [...events],
    until: (told) => told.slice(-wanted.length).join() === wanted.join(),
  });
}

async function firstSound({ transport }: FarRoom): Promise<boolean> {
  for await (const { samples } of transport.audioIn)
    if (samples.some((sample) => Math.abs(sample) > 1_000)) return true;
  return false;
}

/** Publishes a tone until the room is left. */
async function speak(room: Room): Promise<void> {
  const livekit = await loadLiveKitClient();
  const source = new livekit.AudioSource(16_000, 1);
  const publish = new livekit.TrackPublishOptions();
  publish.source = livekit.TrackSource.SOURCE_MICROPHONE;
  await room.localParticipant?.publishTrack(
    livekit.LocalAudioTrack.createAudioTrack("microphone", source),
    publish,
  );
  const samples = Int16Array.from({ length: 1_600 }, (_, at) => 8_000 * Math.sin(at / 5));
  void (async () => {
    while (room.isConnected)
      await source.captureFrame(new livekit.AudioFrame(samples, 16_000, 1, samples.length));
  })().catch(() => undefined); // it ends with the room
}
