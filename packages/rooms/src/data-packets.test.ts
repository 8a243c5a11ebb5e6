import assert from "node:assert/strict";
import { test } from "node:test";
import { DataPacket, DataPacket_Kind, SpeakerInfo, ActiveSpeakerUpdate, UserPacket } from "@livekit/protocol";
import { routePacket, serverPacket } from "./data-packets.ts";
import { createParticipant, type Participant } from "./participant.ts";

const alice = person("alice");
const bob = person("bob");
const carol = person("carol");
const EVERYBODY = [alice, bob, carol];

test("a packet goes to all others, or to those it names, under its sender's name", () => {
  const toAll = route({ payload: "hello" });
  assert.deepEqual(toAll?.names, ["bob", "carol"]);
  assert.deepEqual([toAll?.packet.participantIdentity, toAll?.packet.participantSid], ["alice", alice.sid]);
  assert.deepEqual(route({ payload: "hello", to: ["carol"] })?.names, ["carol"]);
  assert.equal(route({ payload: "hello", to: ["nobody"] }), undefined);
});

test("nobody can speak in another's name", () => {
  const forged = route({ payload: "hello", forged: "bob" });
  assert.equal(forged?.packet.participantIdentity, "alice");
  assert.equal(
    forged?.packet.value.case === "user" && forged.packet.value.value.participantIdentity,
    "alice",
  );
});

test("what was sent again after a resume goes out once", () => {
  assert.ok(route({ payload: "one", sequence: 1 }));
  assert.ok(route({ payload: "two", sequence: 2 }));
  assert.equal(route({ payload: "two", sequence: 2 }), undefined);
  assert.ok(route({ payload: "three", sequence: 3 }));
});

test("garbage, empty packets and other people's loudness are dropped", () => {
  const speakers = new ActiveSpeakerUpdate({ speakers: [new SpeakerInfo({ sid: "PA_x", active: true })] });
  for (const bytes of [
    Buffer.from([0xff, 0xff]),
    new DataPacket().toBinary(),
    new DataPacket({ value: { case: "speaker", value: speakers } }).toBinary(),
  ])
    assert.equal(routePacket({ bytes, kind: "reliable", sender: alice }, EVERYBODY), undefined);
});

test("the service speaks in nobody's name", () => {
  const { bytes, destinations } = serverPacket(
    {
      data: Buffer.from("notice"),
      topic: "news",
      kind: "lossy",
      identities: ["bob"],
      sids: [],
      nonce: Buffer.alloc(0),
    },
    EVERYBODY,
  );
  const packet = DataPacket.fromBinary(bytes);
  assert.deepEqual([packet.participantIdentity, packet.kind], ["", DataPacket_Kind.LOSSY]);
  assert.deepEqual(destinations, [bob]);
});

interface Sent {
  payload: string;
  to?: string[];
  forged?: string;
  sequence?: number;
}

function route({ payload, to = [], forged = "", sequence = 0 }: Sent) {
  const user = new UserPacket({ payload: Buffer.from(payload), participantIdentity: forged });
  const bytes = new DataPacket({
    participantIdentity: forged,
    destinationIdentities: to,
    sequence,
    value: { case: "user", value: user },
  }).toBinary();
  const routed = routePacket({ bytes, kind: "reliable", sender: alice }, EVERYBODY);
  return (
    routed && {
      packet: DataPacket.fromBinary(routed.bytes),
      names: routed.destinations.map(({ identity }) => identity),
    }
  );
}

function person(identity: string): Participant {
  return createParticipant({
    grants: { identity, name: "", kind: undefined, metadata: "", attributes: {}, video: {} },
    autoSubscribe: true,
    client: { sdk: "", clientProtocol: 0, capabilities: [] },
  });
}
