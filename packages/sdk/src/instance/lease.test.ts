import type { ExitRecord } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mock, test } from "node:test";
import { createSessionTable } from "../server/session-table.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { createLease } from "./lease.ts";

test("a clock that a bot has broken costs no session its end", async () => {
  const { log } = createCollectedLog();
  const records: ExitRecord[] = [];
  const over = Promise.withResolvers<void>();
  const lease = createLease({
    sessions: createSessionTable(log),
    records: {
      address: async () => undefined,
      alive: async () => undefined,
      exit: async (record) => void records.push(record),
    },
    isolation: { begin: () => undefined, status: () => null },
    ...{ log, changed: () => undefined, over: () => over.resolve() },
  });
  const before = Date.now();
  lease.start({
    ...{ epoch: 1, sessionId: randomUUID(), transport: "websocket", body: {}, filter: null },
    ...{ maxDurationMs: 60_000, connectDeadlineMs: 60_000, connect: { kind: "socket" } },
  });
  const bent = mock.method(Date, "now", () => {
    throw new Error("no time");
  });
  try {
    await lease.recordAlive();
    await lease.end("stopped");
    await over.promise;
  } finally {
    bent.mock.restore();
  }
  assert.equal(lease.state, "over");
  assert.ok((records[0]?.endedAtMs ?? 0) >= before);
});
