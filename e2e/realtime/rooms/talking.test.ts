import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { eventually } from "../../../testing/wait.ts";
import type { Attendee } from "./attendee.ts";
import { hears, sees, silentAbout, speaks } from "./expectations.ts";
import { freshRoom, openRoomStage, type RoomStage } from "./stage.ts";

let stage: RoomStage;
before(async () => {
  stage = await openRoomStage();
});
after(() => stage[Symbol.asyncDispose]());

const PAIRS: Record<string, (test: TestContext, room: string) => Promise<[Attendee, Attendee]>> = {
  "two of rtc-node": async (context, room) => [
    await stage.fromNode(context, { identity: "alice", room, toneHz: 440 }),
    await stage.fromNode(context, { identity: "bob", room, toneHz: 1_000 }),
  ],
  "a browser and rtc-node": async (context, room) => [
    await stage.fromBrowser(context, { identity: "alice", room }),
    await stage.fromNode(context, { identity: "bob", room, toneHz: 1_000 }),
  ],
  "two browsers": async (context, room) => [
    await stage.fromBrowser(context, { identity: "alice", room }),
    await stage.fromBrowser(context, { identity: "bob", room }),
  ],
};

for (const [pair, join] of Object.entries(PAIRS)) {
  test(`${pair} hear each other`, async (context) => {
    const [alice, bob] = await join(context, freshRoom());
    await Promise.all([alice.speak(), bob.speak()]);
    await Promise.all([hears(alice, bob), hears(bob, alice)]);
    await speaks(alice, "bob");
    await speaks(bob, "alice");
  });

  test(`${pair} exchange data, reliable and lossy`, async (context) => {
    const [alice, bob] = await join(context, freshRoom());
    await sees(alice, bob);
    await alice.send("reliable one", { reliable: true, topic: "greeting" });
    await alice.send("lossy one", { reliable: false, topic: "greeting" });
    await alice.send("for nobody here", { reliable: true, to: ["carol"] });
    await alice.send("for bob", { reliable: true, to: ["bob"] });
    const messages = await eventually({
      what: "bob gets alice's messages",
      look: () => bob.messages(),
      until: (seen) =>
        seen.some(({ text }) => text === "for bob") && seen.some(({ text }) => text === "lossy one"),
    });
    assert.deepEqual(
      messages
        .filter(({ text }) => text !== "lossy one")
        .map(({ from, text, topic }) => ({ from, text, topic })),
      [
        { from: "alice", text: "reliable one", topic: "greeting" },
        { from: "alice", text: "for bob", topic: "" },
      ],
    );
    await bob.send("and back", { reliable: true });
    await eventually({
      what: "alice gets bob's message",
      look: () => alice.messages(),
      until: (seen) => seen.some(({ from, text }) => from === "bob" && text === "and back"),
    });
  });
}

test("who joins later hears who speaks already, and sees who is there", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromNode(context, { identity: "alice", room, toneHz: 440 });
  await alice.speak();
  const bob = await stage.fromBrowser(context, { identity: "bob", room });
  await hears(bob, alice);
  assert.deepEqual(
    (await bob.others()).map(({ identity }) => identity),
    ["alice"],
  );
});

test("three are all heard by each other", async (context) => {
  const room = freshRoom();
  const three = [
    await stage.fromNode(context, { identity: "alice", room, toneHz: 440 }),
    await stage.fromBrowser(context, { identity: "bob", room }),
    await stage.fromNode(context, { identity: "carol", room, toneHz: 1_500 }),
  ];
  await Promise.all(three.map((one) => one.speak()));
  for (const listener of three)
    for (const speaker of three) if (speaker !== listener) await hears(listener, speaker);
});

test("a muted microphone is silent and shown as muted, until it is not", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromBrowser(context, { identity: "alice", room });
  const bob = await stage.fromNode(context, { identity: "bob", room });
  await alice.speak();
  await hears(bob, alice);
  await alice.setMuted(true);
  await eventually({
    what: "bob sees alice muted",
    look: () => bob.others(),
    until: ([seen]) => seen?.tracks[0]?.muted === true,
  });
  await silentAbout(bob, alice);
  await eventually({
    what: "alice no longer speaks",
    look: () => bob.speakers(),
    until: (seen) => seen.length === 0,
  });
  await alice.setMuted(false);
  await hears(bob, alice);
});

test("the service mutes a track and cannot unmute it", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromBrowser(context, { identity: "alice", room });
  const bob = await stage.fromNode(context, { identity: "bob", room });
  const trackSid = await alice.speak();
  await hears(bob, alice);
  await stage.target.service.mutePublishedTrack(room, "alice", trackSid, true);
  await silentAbout(bob, alice);
  await eventually({
    what: "alice learns of it",
    look: () => alice.events(),
    until: (seen) => seen.some(({ name }) => name === "trackMuted"),
  });
  await assert.rejects(stage.target.service.mutePublishedTrack(room, "alice", trackSid, false), {
    code: "failed_precondition",
  });
});

test("a track that is taken away is gone for the others", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromBrowser(context, { identity: "alice", room });
  const bob = await stage.fromNode(context, { identity: "bob", room });
  await alice.speak();
  await hears(bob, alice);
  await alice.page.evaluate(async () => {
    const { localParticipant } = window.roomPage.room;
    for (const { track } of localParticipant.trackPublications.values())
      if (track) await localParticipant.unpublishTrack(track);
  });
  await eventually({
    what: "bob sees no track",
    look: () => bob.others(),
    until: ([seen]) => seen?.tracks.length === 0,
  });
  await alice.speak();
  await hears(bob, alice);
});

test("text streams and remote calls pass, both ways", async (context) => {
  const room = freshRoom();
  const alice = await stage.fromBrowser(context, { identity: "alice", room });
  const bob = await stage.fromNode(context, { identity: "bob", room });
  await Promise.all([sees(alice, bob), sees(bob, alice)]);
  bob.room.localParticipant?.registerRpcMethod("shout", async ({ payload }) => payload.toUpperCase());
  const answer = await alice.page.evaluate(() =>
    window.roomPage.room.localParticipant.performRpc({
      destinationIdentity: "bob",
      method: "shout",
      payload: "hello",
    }),
  );
  assert.equal(answer, "HELLO");
  const text = "a long story ".repeat(5_000); // several packets
  const story = await alice.page.evaluateHandle(() => ({
    told: new Promise<string>((resolve) => {
      window.roomPage.room.registerTextStreamHandler(
        "story",
        (reader) => void reader.readAll().then(resolve),
      );
    }),
  }));
  await bob.room.localParticipant?.sendText(text, { topic: "story" });
  assert.equal(await story.evaluate(({ told }) => told), text);
});

for (const simulcast of [true, false])
  test(`video is forwarded, ${simulcast ? "as clients publish it by default" : "without simulcast"}`, async (context) => {
    const room = freshRoom();
    const alice = await stage.fromBrowser(context, { identity: "alice", room });
    const bob = await stage.fromBrowser(context, { identity: "bob", room });
    await alice.speak();
    for (const time of ["first", "second"]) {
      await alice.page.evaluate((layered) => window.roomPage.showVideo(layered), simulcast);
      await eventually({
        what: `bob decodes alice's video for the ${time} time`,
        look: () => bob.page.evaluate(() => window.roomPage.framesDecoded("alice")),
        until: (frames) => frames > 5,
        quietMs: 30_000,
      });
      await hears(bob, alice);
      if (stage.target.isOurs) assert.equal(await alice.page.evaluate(() => window.roomPage.layersSent()), 1);
      await alice.page.evaluate(() => window.roomPage.endVideo());
      await eventually({
        what: "bob sees that it ended",
        look: () => bob.others(),
        until: ([seen]) => seen?.tracks.length === 1,
      });
    }
    for (const one of [alice, bob]) {
      const ends = (await one.events()).filter(({ name }) => /reconnect|^disconnected/i.test(name));
      assert.deepEqual(ends, []);
    }
  });
