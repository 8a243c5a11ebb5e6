import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../../testing/wait.ts";
import type { Attendee } from "./attendee.ts";
import { hears } from "./expectations.ts";
import { findMediaProcess } from "./media-process.ts";
import { openSignalProxy, type SignalProxy } from "./signal-proxy.ts";
import { freshRoom, openRoomStage, type RoomStage } from "./stage.ts";

// Behaviour of our server alone: it cannot restart ICE, so clients that cannot go on must connect anew, by themselves.
// On a machine full of other tests a client's own deadlines run out, so only the long run has the time for it.
const isOurs = !process.env["LIVEKIT_URL"];
let stage: RoomStage;
let proxy: SignalProxy;
before(async () => {
  if (!isOurs) return;
  stage = await openRoomStage({ timing: { resumeMs: 1 } });
  proxy = await openSignalProxy(stage.target.url);
});
after(async () => {
  if (!isOurs) return;
  await proxy[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

test("who comes back too late joins anew", { skip: !isOurs }, async (context) => {
  const room = freshRoom();
  const alice = await stage.fromBrowser(context, { identity: "alice", room, url: proxy.url });
  const anna = await stage.fromNode(context, { identity: "anna", room, url: proxy.url, toneHz: 440 });
  const bob = await stage.fromNode(context, { identity: "bob", room, toneHz: 1_000 });
  await Promise.all([alice.speak(), anna.speak(), bob.speak()]);
  for (const one of [alice, anna]) await Promise.all([hears(one, bob), hears(bob, one)]);
  proxy.drop();
  await Promise.all([comesBack(alice), comesBack(anna)]);
  for (const one of [alice, anna]) await Promise.all([hears(one, bob), hears(bob, one)]);
});

test(
  "when the media process dies, all participants come back into the room by themselves",
  { skip: !isOurs },
  async (context) => {
    const room = freshRoom();
    const alice = await stage.fromBrowser(context, { identity: "alice", room });
    const bob = await stage.fromNode(context, { identity: "bob", room, toneHz: 1_000 });
    await Promise.all([alice.speak(), bob.speak()]);
    await Promise.all([hears(alice, bob), hears(bob, alice)]);
    const before = findMediaProcess();
    process.kill(before, "SIGKILL");
    await Promise.all([comesBack(alice), comesBack(bob)]);
    await Promise.all([hears(alice, bob), hears(bob, alice)]);
    assert.notEqual(findMediaProcess(), before);
  },
);

async function comesBack(attendee: Attendee): Promise<void> {
  await eventually({
    what: `${attendee.identity} is back`,
    look: () => attendee.events(),
    until: (events) => events.some(({ name }) => name === "reconnected"),
    quietMs: 40_000,
  });
}
