import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, pause } from "../../../testing/wait.ts";
import { isMostly } from "../../conformance/tone.ts";
import type { Attendee } from "./attendee.ts";
import { hears, sees } from "./expectations.ts";
import { openLossyRelay, type LossyRelay } from "./lossy-relay.ts";
import { freshRoom, openRoomStage, type RoomStage } from "./stage.ts";

// The relay stands before a server we start. It listens for gaps, so it is for the long run, which has the machine for it.
const isOurs = !process.env["LIVEKIT_URL"];
const LISTENED_MS = 6_000;
const MOMENT_MS = 100;
const MESSAGES = 50;

let relay: LossyRelay;
let stage: RoomStage;
before(async () => {
  if (!isOurs) return;
  relay = await openLossyRelay();
  stage = await openRoomStage({
    media: { udpPort: relay.port, bindAddress: "127.0.0.1", announcedAddress: relay.address },
  });
});
after(async () => {
  if (!isOurs) return;
  await stage[Symbol.asyncDispose]();
  await relay[Symbol.asyncDispose]();
});

test(
  "with 5 % of all packets lost a call stays intelligible and no data is missing",
  { skip: !isOurs },
  async (context) => {
    const room = freshRoom();
    const alice = await stage.fromBrowser(context, { identity: "alice", room });
    const bob = await stage.fromNode(context, { identity: "bob", room, toneHz: 1_000 });
    await Promise.all([alice.speak(), bob.speak()]);
    await Promise.all([hears(alice, bob), hears(bob, alice), sees(alice, bob)]);
    // A busy machine also disturbs calls; that is not the loss.
    const undisturbed = await Promise.all([heardShare(alice, bob), heardShare(bob, alice)]);
    relay.lostShare = 0.05;
    const shares = await Promise.all([heardShare(alice, bob), heardShare(bob, alice)]);
    for (let number = 0; number < MESSAGES; number += 1)
      await bob.send(`message ${number}`, { reliable: true });
    const messages = await eventually({
      what: "alice gets every message",
      look: () => alice.messages(),
      until: ({ length }) => length >= MESSAGES,
    });
    assert.deepEqual(
      messages.map(({ text }) => text),
      Array.from({ length: MESSAGES }, (_, number) => `message ${number}`),
    );
    context.diagnostic(
      `heard ${shares.join(", ")}; ${relay.lost} of ${relay.lost + relay.passed} packets lost`,
    );
    assert.ok(relay.lost > 20, `only ${relay.lost} packets were lost`);
    for (const [at, share] of shares.entries())
      assert.ok(
        share > 0.8 * (undisturbed[at] ?? 1),
        `the tone was there in ${share} of the moments, without loss in ${undisturbed[at]}`,
      );
    for (const one of [alice, bob])
      assert.ok(
        !(await one.events()).some(({ name }) => /reconnecting|disconnected/i.test(name)),
        "a call was disturbed",
      );
  },
);

/** Share of moments in which the speaker's tone is the loudest there is. */
async function heardShare(listener: Attendee, speaker: Attendee): Promise<number> {
  let heard = 0;
  let moments = 0;
  for (const untilMs = performance.now() + LISTENED_MS; performance.now() < untilMs; moments += 1) {
    if (isMostly(await listener.hear(speaker.identity), speaker.toneHz)) heard += 1;
    await pause(MOMENT_MS);
  }
  return heard / moments;
}
