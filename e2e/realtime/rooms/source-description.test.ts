import { after, test } from "node:test";
import { until } from "../../../testing/wait.ts";
import { endBareParticipants, joinBarely, type BareParticipant } from "../../harness/bare-participant.ts";
import { invalidSourceDescriptions } from "../../harness/invalid-rtcp.ts";
import { openOwnTarget, type RoomTarget } from "./room-target.ts";

after(endBareParticipants);

const OPUS_SILENCE = Uint8Array.of(0xf8, 0xff, 0xfe);

test("an invalid source description on either connection leaves the other rooms theirs", async () => {
  await using target = await openOwnTarget();
  let heard = 0;
  const [odd, witness, speaker] = await Promise.all([
    join(target, "odd", "one"),
    join(target, "witness", "one"),
    join(target, "speaker", "two"),
    join(target, "listener", "two", () => (heard += 1)),
  ]);
  // The witness speaks so that the odd one has something to receive.
  const microphone = await speaker.publish();
  await witness.publish();
  await odd.publish();
  for (const side of ["publisher", "subscriber"] as const) {
    await odd.sendRtcp(side, invalidSourceDescriptions);
    const before = heard;
    await until(
      () => (microphone.send(OPUS_SILENCE), heard > before + 20),
      15_000,
      "packets of the other room",
    );
  }
  const late = await join(target, "late", "two");
  await late.publish();
});

async function join(
  target: RoomTarget,
  identity: string,
  room: string,
  packet: () => void = () => undefined,
): Promise<BareParticipant> {
  const participant = await joinBarely({
    url: target.url,
    token: await target.token(identity, room),
    packet,
  });
  await participant.connected();
  return participant;
}
