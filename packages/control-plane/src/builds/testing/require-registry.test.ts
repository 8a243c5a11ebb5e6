import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { test } from "node:test";
import { requireRegistry } from "./require-registry.ts";

const REFUSAL = /the package registry that npm is configured to use cannot be reached/;

async function listen(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test("a registry that refuses connections is reported", async () => {
  const server = createServer();
  const registry = await listen(server);
  await once(server.close(), "close");
  await assert.rejects(requireRegistry({ registry }), REFUSAL);
});

test("a registry that accepts connections and never answers is reported within a minute", async () => {
  const server = createServer((socket) => void socket.on("error", () => undefined).resume());
  const startedMs = performance.now();
  try {
    await assert.rejects(requireRegistry({ registry: await listen(server), answerLimitMs: 500 }), REFUSAL);
  } finally {
    server.close();
  }
  assert.ok(performance.now() - startedMs < 60_000);
});
