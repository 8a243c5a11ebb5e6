// A phone call at a carrier's door, and a room: who is on the phone and who is in the room hear each other.
import { dispose } from "@livekit/rtc-node";
import type { Invitation, RoomStarted } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { RoomServiceClient } from "livekit-server-sdk";
import { eventually } from "../../../testing/wait.ts";
import { isMostly } from "../../conformance/tone.ts";
import { startRunnerProcess, type RunnerProcess } from "../../harness/runner-process.ts";
import { toneShare } from "../../telephony/sound.ts";
import { dial, type Call } from "../../telephony/telephone.ts";
import { joinFromNode } from "./node-attendee.ts";

const KEY = { name: "testkey", secret: "a secret of thirty-two characters" };
const CALLER_HZ = 440;
const ANN_HZ = 1_000;
const BOT_HZ = 600;
const LINE_HZ = 8_000;

let runner: RunnerProcess;

before(async () => {
  runner = await startRunnerProcess({
    bot: "e2e/bots/room-bot.ts",
    environment: {
      VOCALHOST_ROOM_PROVIDER: "embedded", // whatever server the other tests are given
      VOCALHOST_ROOMS_API_KEY: KEY.name,
      VOCALHOST_ROOMS_API_SECRET: KEY.secret,
    },
  });
});

after(async () => {
  await runner?.[Symbol.asyncDispose]();
  await dispose(); // or rtc-node keeps the process
});

test("a caller and those in a room hear each other, and one that leaves does not disturb the others", async (context) => {
  const started = await post<RoomStarted>("/start", { transport: "room", body: { toneHz: BOT_HZ } });
  const ann = await joinFromNode({ ...started, url: started.roomUrl, identity: "ann", toneHz: ANN_HZ });
  context.after(() => ann.leave());
  await ann.speak();
  const own = started.sessionId.slice(0, 8);

  const first = await call(started.sessionId);
  await annHears(`Guest-1-${own}`, CALLER_HZ);
  await annHears(`Bot-${own}`, BOT_HZ);
  await callerHears(first, [ANN_HZ, BOT_HZ]);
  first.hangUp();
  await first.ended();
  await eventually({
    what: "the caller is gone from the room",
    look: () => ann.others(),
    until: (others) => others.length === 1,
  });
  const said = (await ann.messages()).filter(({ from }) => from === `Guest-1-${own}`);
  assert.deepEqual(said, [], "the caller is no bot, and says nothing as one does");
  await annHears(`Bot-${own}`, BOT_HZ);

  const second = await call(started.sessionId);
  await annHears(`Guest-2-${own}`, CALLER_HZ);
  const service = new RoomServiceClient(runner.url, KEY.name, KEY.secret);
  for (const { name } of await service.listRooms()) await service.deleteRoom(name);
  const { outcome } = await second.ended();
  assert.deepEqual([outcome.type, "by" in outcome && outcome.by], ["hung-up", "bot"]);

  async function annHears(identity: string, toneHz: number): Promise<void> {
    await eventually({
      what: `Ann hears ${identity} at ${toneHz} Hz`,
      look: () => ann.hear(identity),
      until: (tone) => isMostly(tone, toneHz),
    });
  }
});

/** A person calls, and is brought into the session's room. */
async function call(sessionId: string): Promise<Call> {
  const room = await post<Invitation>(`/sessions/${sessionId}/api/invite`, {});
  const { wsUrl } = await post<{ wsUrl: string }>("/start", { transport: "twilio", body: { room } });
  return dial({ carrier: { name: "twilio" }, url: wsUrl, toneHz: CALLER_HZ });
}

/** All of these at once, in the last half second that was sent to the phone. */
async function callerHears({ events }: Call, tonesHz: number[]): Promise<void> {
  await eventually({
    what: `the caller hears ${tonesHz.join(" and ")} Hz`,
    look() {
      const samples = events.flatMap((event) => (event.type === "audio-queued" ? [...event.samples] : []));
      const last = { samples: Int16Array.from(samples.slice(-LINE_HZ / 2)), sampleRateHz: LINE_HZ };
      return tonesHz.map((toneHz) => toneShare(last, toneHz));
    },
    until: (shares) => shares.every((share) => share > 0.25),
  });
}

async function post<A>(path: string, body: object): Promise<A> {
  const response = await fetch(`${runner.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, path);
  return (await response.json()) as A;
}
