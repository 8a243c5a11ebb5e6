import type { SessionDescription } from "@livekit/protocol";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eventually, until, within } from "../../../testing/wait.ts";
import { endBareParticipants, joinBarely } from "../../harness/bare-participant.ts";
import { openOwnTarget } from "./room-target.ts";

after(endBareParticipants);

// A participant that knows our address checks it as soon as its own answer is in force, and DTLS that begins before we
// have that answer never succeeds. So the offer it takes its time with must not say where we are.
test("who answers late is told our address only then, and is connected", async () => {
  await using target = await openOwnTarget();
  const speaker = await joinBarely({ url: target.url, token: await target.token("speaker", "lobby") });
  await speaker.connected();
  const microphone = await speaker.publish();
  const offers: SessionDescription[] = [];
  const first = Promise.withResolvers<void>();
  const mayAnswer = Promise.withResolvers<void>();
  let heard = 0;
  const late = await joinBarely({
    url: target.url,
    token: await target.token("late", "lobby"),
    packet: () => (heard += 1),
    async beforeAnswer(offer) {
      offers.push(offer);
      first.resolve();
      if (offers.length === 1) await mayAnswer.promise;
    },
  });
  await within(first.promise, 5_000, "first offer");
  // There and back through the media process: whatever it had to say of the first offer, it has said.
  await late.publish();
  assert.equal(offers.length, 1, "another offer while one was unanswered");
  assert.deepEqual(candidatesOf(offers[0]), []);
  assert.equal(heard, 0);

  mayAnswer.resolve();
  await late.connected();
  const second = await until(() => offers[1], 5_000, "second offer");
  assert.notDeepEqual(candidatesOf(second), []);
  await eventually({
    what: "the speaker is heard",
    look() {
      microphone.send(new Uint8Array([0xf8, 0xff, 0xfe]));
      return heard;
    },
    until: (packets) => packets > 0,
  });
  speaker.leave();
  late.leave();
});

function candidatesOf(offer: SessionDescription | undefined): string[] {
  return offer?.sdp.match(/^a=candidate:.*$/gm) ?? [];
}
