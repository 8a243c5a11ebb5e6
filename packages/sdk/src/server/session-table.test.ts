import { carrierNames, isAppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createCollectedLog } from "../testing/collected-log.ts";
import type { Client } from "./client.ts";
import { createSessionTable } from "./session-table.ts";

test("holds sessions by id until they end", async () => {
  const { table } = start();
  const first = table.create({ transport: "webrtc", body: { a: 1 } });
  const second = table.create({ transport: "websocket", body: null });
  assert.equal(table.size, 2);
  assert.equal(table.get(first.id), first);
  assert.equal(table.get("unknown"), undefined);
  assert.deepEqual([first.body, second.body], [{ a: 1 }, {}]);
  await first.end("stopped");
  assert.equal(table.get(first.id), undefined);
  assert.equal(table.size, 1);
  await table.endAll();
  assert.equal(table.size, 0);
  assert.equal(second.signal.reason.reason, "shutdown");
});

test("finds a session by its newest peer and by its phone call", async () => {
  const { table } = start();
  const [browser, phone] = [
    table.create({ transport: "webrtc", body: {} }),
    table.create({ transport: "twilio", body: {} }),
  ];
  const peer = { id: "first", close() {} };
  browser.client = peer as unknown as Client;
  phone.client = { id: "CA1", close() {} } as unknown as Client;
  assert.equal(table.ofClient(["webrtc"], "first"), browser);
  peer.id = "second";
  assert.equal(table.ofClient(["webrtc"], "first"), undefined);
  assert.equal(table.ofClient(["webrtc"], "second"), browser);
  assert.equal(table.ofClient(carrierNames, "CA1"), phone);
  assert.equal(table.ofClient(carrierNames, "CA2"), undefined);
  assert.equal(table.ofClient(["webrtc"], "CA1"), undefined);
  await table.endAll();
});

test("each session logs under its id", async () => {
  const { table, entries } = start();
  const session = table.create({ transport: "webrtc", body: {} });
  await session.end("stopped");
  assert.deepEqual(
    entries.map(({ message, fields }) => [message, fields["sessionId"], fields["reason"]]),
    [["session ended", session.id, "stopped"]],
  );
});

test("callers cannot make it remember without end", async () => {
  const { table } = start();
  for (let count = 0; count < 1000; count += 1) table.create({ transport: "webrtc", body: {} });
  assert.throws(
    () => table.create({ transport: "webrtc", body: {} }),
    (error) => isAppError(error) && error.code === "TOO_MANY_SESSIONS" && error.retryable,
  );
  await table.endAll();
  const session = table.create({ transport: "webrtc", body: {} });
  assert.equal(table.size, 1);
  await session.end("stopped");
});

function start() {
  const { log, entries } = createCollectedLog();
  return { table: createSessionTable(log), entries };
}
