import {
  ReadyReport,
  TERMINATION_MESSAGE_BYTES,
  TerminationMessage,
  type AliveRecord,
} from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import { within } from "../../../../testing/wait.ts";
import { reportStarvation } from "./ready-report.ts";
import { createRecords } from "./records.ts";

const SESSION_ID = "0f0f4c0e-5c3d-4f7e-9f27-0a6b8e6d1c11";

test("a termination message is the newest record, in the bytes that a cluster keeps, and no sign of life follows the end", async () => {
  using file = temporaryFile();
  const records = createRecords({ ...CONFIG, terminationMessageFile: file.path });
  const alive = (elapsedMs: number): AliveRecord => ({ sessionId: SESSION_ID, elapsedMs, atMs: 1 });
  const read = (): TerminationMessage => {
    const text = readFileSync(file.path, "utf8");
    assert.equal(Buffer.byteLength(text), TERMINATION_MESSAGE_BYTES);
    return TerminationMessage.parse(JSON.parse(text));
  };
  await records.alive(alive(100_000));
  await records.alive(alive(9));
  assert.deepEqual(read(), { alive: alive(9) });
  const exit = { sessionId: SESSION_ID, reason: "stopped", elapsedMs: 10, endedAtMs: 2, marks: {} };
  await records.exit(exit);
  await records.alive(alive(11));
  assert.deepEqual(read(), { exit });
  await assert.rejects(records.exit({ ...exit, reason: "x".repeat(TERMINATION_MESSAGE_BYTES) }), RangeError);
});

test("an instance says that it is ready with its token, and continues without an answer", async () => {
  using file = temporaryFile();
  const server = createServer((_request, response) => response.writeHead(204).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const readyEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const called = once(server, "request") as Promise<[IncomingMessage]>;
  await createRecords({ ...CONFIG, terminationMessageFile: file.path, readyEndpoint }).address(
    "10.1.2.3:7860",
  );
  const [request] = await within(called, 10_000, "call");
  assert.deepEqual([request.method, request.url], ["POST", "/instance-1"]);
  assert.equal(request.headers.authorization, "Bearer secret");
  server.closeAllConnections();
  server.close();
  await createRecords({ ...CONFIG, terminationMessageFile: file.path, readyEndpoint }).address(
    "10.1.2.3:7860",
  );
});

test("an instance whose boot is slow says how long it waited for the processor", async () => {
  const told = Promise.withResolvers<unknown>();
  await using server = createServer((request, response) => {
    told.resolve(json(request).finally(() => response.writeHead(204).end()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const readyEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  using _reports = reportStarvation({ ...CONFIG, readyEndpoint });
  assert.ok("starvedMs" in ReadyReport.parse(await within(told.promise, 10_000, "report")));
});

const CONFIG = {
  folder: "/nowhere",
  hasSharedFiles: false,
  terminationMessageFile: undefined,
  readyEndpoint: undefined,
  instanceId: "instance-1",
  token: "secret",
};

function temporaryFile(): Disposable & { path: string } {
  const folder = mkdtempSync(join(tmpdir(), "last-word-"));
  const path = join(folder, "message");
  writeFileSync(path, "");
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
