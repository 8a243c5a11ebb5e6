import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { after, test } from "node:test";
import { aFewAtATime, eventually } from "../../../testing/wait.ts";
import { endBareParticipants, joinBarely } from "../../harness/bare-participant.ts";
import { findMediaProcess } from "./media-process.ts";
import { openOwnTarget } from "./room-target.ts";

// Now and then a connection of the bare client library fails on its own side; hundreds bear that, a few do not.
const JOINS = 300;

after(endBareParticipants);

test(`${JOINS} joins and abrupt departures leave no room, no connection and no port`, async () => {
  await using target = await openOwnTarget({
    timing: { departureTimeoutS: 1, resumeMs: 1_000 },
    limits: { rooms: 1_000 },
  });
  const media = findMediaProcess();
  await once();
  const before = figures(media);
  let failures = 0;

  async function once(): Promise<void> {
    const participant = await joinBarely({ url: target.url, token: await target.token("first", "first") });
    await participant.connected();
    participant.leave();
    await empty();
  }

  async function empty(): Promise<void> {
    await eventually({
      what: "every room is closed",
      look: () => target.service.listRooms(),
      until: (rooms) => rooms.length === 0,
      quietMs: 60_000,
    });
  }

  await aFewAtATime(
    Array.from({ length: JOINS }, (_, at) => at),
    async (at) => {
      const token = await target.token(`p${at}`, `room-${at % 7}`);
      const participant = await joinBarely({ url: target.url, token });
      try {
        if (at % 3 !== 0) await participant.connected();
        if (at % 3 === 1) await participant.publish();
      } catch {
        failures += 1; // about one connection in a hundred of this client library fails on its own side
      }
      participant.vanish();
    },
  );
  assert.ok(failures <= JOINS / 4, `${failures} of ${JOINS} could not connect`); // more of them on a busy machine
  await empty();
  const after = await eventually({
    what: `the media process is as before, ${JSON.stringify(before)}`,
    look: () => figures(media),
    until: (now) => now.sockets <= before.sockets && now.files <= before.files + 2,
    quietMs: 30_000,
  });
  assert.ok(
    after.memoryMb < before.memoryMb + 60,
    `memory grew from ${before.memoryMb} to ${after.memoryMb} MB`,
  );
});

interface Figures {
  sockets: number;
  files: number;
  memoryMb: number;
}

function figures(pid: number): Figures {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  const memory = execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return {
    sockets: links.filter((link) => link.startsWith("socket:")).length,
    files: links.length,
    memoryMb: Math.round(Number(memory) / 1024),
  };
}
