import assert from "node:assert/strict";
import { test } from "node:test";
import { SubscriptionPermission, TrackInfo, TrackPermission } from "@livekit/protocol";
import { createParticipant, type Participant } from "./participant.ts";
import { planSubscriptions } from "./subscriptions.ts";
import type { VideoGrant } from "./tokens.ts";

test("everybody gets what the others publish, and not their own", () => {
  const alice = person("alice", ["TR_a"]);
  const bob = person("bob", ["TR_b1", "TR_b2"]);
  assert.deepEqual(plan(alice, [alice, bob]), { subscribe: ["TR_b1", "TR_b2"], unsubscribe: [] });
  alice.subscribing.tracks.add("TR_b1").add("TR_gone");
  assert.deepEqual(plan(alice, [alice, bob]), { subscribe: ["TR_b2"], unsubscribe: ["TR_gone"] });
});

test("who is held gets nothing new, and keeps no more than it may", () => {
  const alice = person("alice", []);
  const bob = person("bob", ["TR_b1", "TR_b2"]);
  alice.subscribing.tracks.add("TR_b1").add("TR_gone");
  alice.subscribing.isHeld = true;
  assert.deepEqual(plan(alice, [alice, bob]), { subscribe: [], unsubscribe: ["TR_gone"] });
});

test("choices win over auto-subscribe, rights over both", () => {
  const bob = person("bob", ["TR_b1", "TR_b2"]);
  const alice = person("alice", [], { autoSubscribe: false });
  alice.subscribing.choices.set("TR_b2", true);
  assert.deepEqual(plan(alice, [alice, bob]).subscribe, ["TR_b2"]);
  const deaf = person("deaf", [], { canSubscribe: false });
  assert.deepEqual(plan(deaf, [deaf, bob]).subscribe, []);
  const hidden = person("hidden", ["TR_h"], { hidden: true });
  assert.deepEqual(plan(alice, [alice, hidden]).subscribe, []);
});

test("a publisher says who may have which track", () => {
  const bob = person("bob", ["TR_b1", "TR_b2"]);
  const alice = person("alice", []);
  const carol = person("carol", []);
  bob.publishing.permission = new SubscriptionPermission({
    allParticipants: false,
    trackPermissions: [new TrackPermission({ participantIdentity: "alice", trackSids: ["TR_b2"] })],
  });
  assert.deepEqual(plan(alice, [alice, bob, carol]).subscribe, ["TR_b2"]);
  assert.deepEqual(plan(carol, [alice, bob, carol]).subscribe, []);
});

function plan(
  subscriber: Participant,
  participants: Participant[],
): { subscribe: string[]; unsubscribe: string[] } {
  const { subscribe, unsubscribe } = planSubscriptions(subscriber, participants);
  return { subscribe: subscribe.map(({ trackSid }) => trackSid), unsubscribe };
}

function person(
  identity: string,
  tracks: string[],
  { autoSubscribe = true, ...video }: VideoGrant & { autoSubscribe?: boolean } = {},
): Participant {
  const participant = createParticipant({
    grants: { identity, name: "", kind: undefined, metadata: "", attributes: {}, video },
    autoSubscribe,
    client: { sdk: "", clientProtocol: 0, capabilities: [] },
  });
  for (const sid of tracks)
    participant.publishing.tracks.set(sid, {
      info: new TrackInfo({ sid }),
      mid: sid,
      dtx: true,
      hasSubscribers: false,
    });
  return participant;
}
