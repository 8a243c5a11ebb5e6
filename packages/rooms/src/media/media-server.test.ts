import assert from "node:assert/strict";
import { after, test } from "node:test";
import ndc from "node-datachannel";
import { eventually } from "../../../../testing/wait.ts";
import { createMediaServer } from "./media-server.ts";
import type { MediaEvent } from "./messages.ts";

const events: MediaEvent[] = [];
const server = createMediaServer(
  {
    udpPort: 0,
    bindAddress: "127.0.0.1",
    announcedAddress: undefined,
    allowPrivateCandidates: true,
    maxDataBytes: 65_536,
    levelIntervalMs: 60_000,
  },
  (event) => events.push(event),
);
after(() => {
  server[Symbol.dispose]();
  ndc.cleanup();
});

test("an answer that does not fit has its own participant connect anew, and nobody else", async () => {
  for (const peer of ["ann", "bob"]) server.execute({ type: "open", peer });
  const offers = await eventually({
    what: "both are offered a connection",
    look: () => events.filter((event) => event.type === "subscriber-offer"),
    until: (seen) => seen.length === 2,
  });
  const offer = offers.find(({ peer }) => peer === "ann");
  const sdp = (offer?.sdp ?? "").replace(/^a=fingerprint:.*\r\n/gm, ""); // plausible, and of no use
  server.execute({ type: "subscriber-answer", peer: "ann", offerId: offer?.offerId ?? 0, sdp });
  server.execute({ type: "subscriber-answer", peer: "bob", offerId: 0, sdp: "garbage" });
  const ends = events.filter(({ type }) => type === "full" || type === "refused");
  assert.deepEqual(
    ends.map((event) => ("peer" in event ? `${event.type} ${event.peer}` : "")),
    ["full ann", "refused bob"],
  );
});
