import { transportNames } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { createCollectedLog } from "../../testing/collected-log.ts";
import { createSessionTable } from "../session-table.ts";
import { beginSession, doorOf, doors } from "./doors.ts";
import type { SessionHost } from "./door.ts";

test("every transport has one door", () => {
  assert.deepEqual(doors.flatMap(({ names }) => names).sort(), [...transportNames].sort());
  for (const name of transportNames) assert.ok(doorOf(name).names.includes(name));
});

test("a session whose door fails to begin it is over", async () => {
  const { log, messages } = createCollectedLog();
  const session = createSessionTable(log).create({ transport: "webrtc", body: {} });
  const media = {
    prepare: () => {
      throw new Error("no media");
    },
  };
  beginSession({ media } as unknown as SessionHost, session, { kind: "webrtc", iceServers: [] });
  await once(session.signal, "abort");
  await session.end("stopped");
  assert.equal(session.signal.reason.reason, "never-connected");
  assert.deepEqual(messages(), ["beginning the session failed", "session ended"]);
});
