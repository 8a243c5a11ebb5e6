import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { eventually } from "../../../testing/wait.ts";
import type { Attendee } from "./attendee.ts";
import { hears } from "./expectations.ts";
import { openSignalProxy, type SignalProxy } from "./signal-proxy.ts";
import { freshRoom, openRoomStage, type JoinOptions, type RoomStage } from "./stage.ts";

let stage: RoomStage;
let proxy: SignalProxy;
before(async () => {
  stage = await openRoomStage();
  proxy = await openSignalProxy(stage.target.url);
});
after(async () => {
  await proxy[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

const CLIENTS: Record<string, (test: TestContext, options: JoinOptions) => Promise<Attendee>> = {
  "rtc-node": (context, options) => stage.fromNode(context, options),
  "a browser": (context, options) => stage.fromBrowser(context, options),
};

for (const [client, join] of Object.entries(CLIENTS)) {
  test(`${client} resumes after its socket dropped, and no other participant notices`, async (context) => {
    const room = freshRoom();
    const alice = await join(context, { identity: "alice", room, url: proxy.url });
    const bob = await stage.fromNode(context, { identity: "bob", room, toneHz: 1_000 });
    await Promise.all([alice.speak(), bob.speak()]);
    await Promise.all([hears(alice, bob), hears(bob, alice)]);
    const sid = await alice.ownSid();
    proxy.drop();
    await eventually({
      what: "alice is reconnected",
      look: () => alice.events(),
      until: (events) => events.some(({ name }) => name === "reconnected"),
      quietMs: 30_000,
    });
    assert.equal(await alice.ownSid(), sid);
    await Promise.all([hears(alice, bob), hears(bob, alice)]);
    await alice.send("still here", { reliable: true });
    await eventually({
      what: "bob gets what alice says afterwards",
      look: () => bob.messages(),
      until: (messages) => messages.some(({ text }) => text === "still here"),
    });
    const carol = await stage.fromNode(context, { identity: "carol", room, toneHz: 1_500 });
    await carol.speak();
    await hears(alice, carol);
    const seen = (await bob.events()).map(({ name, about }) => `${name} ${about}`);
    assert.ok(!seen.includes("participantDisconnected alice"), "bob saw alice leave");
  });
}
