import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { createEngineClient } from "./engine-client.ts";
import { toEngineError } from "./engine-error.ts";
import { identifyEngine } from "./engine.ts";

const signal = new AbortController().signal;

test("questions come to the engine as Docker's interface has them", async () => {
  const seen: unknown[] = [];
  await using engine = await startEngine(async (request, response) => {
    const { method, url, headers } = request;
    const credentials = Buffer.from(String(headers["x-registry-auth"] ?? ""), "base64url").toString();
    seen.push([
      method,
      decodeURIComponent(url ?? ""),
      headers["content-type"],
      credentials,
      await text(request),
    ]);
    response.end(url?.startsWith("/build") ? "built" : `{"Id":"1"}`);
  });
  const { client } = engine;
  const filters = { label: ["a=b"] };
  assert.deepEqual(await client.ask({ path: "/containers/json", query: { all: true, filters }, signal }), {
    Id: "1",
  });
  await client.tell({ method: "POST", path: "/networks/create", body: { Name: "ü" }, signal });
  const credentials = { username: "me", password: "???>>>" };
  await client.tell({ method: "POST", path: "/images/a/b:c/push", credentials, signal });
  const built = { method: "POST", path: "/build", body: Readable.from(["ar", "chive"]), signal } as const;
  assert.equal(String(await client.bytes(built)), "built");
  assert.deepEqual(seen, [
    ["GET", `/containers/json?all=true&filters={"label":["a=b"]}`, undefined, "", ""],
    ["POST", "/networks/create", "application/json", "", `{"Name":"ü"}`],
    ["POST", "/images/a/b:c/push", undefined, JSON.stringify(credentials), ""],
    ["POST", "/build", "application/x-tar", "", "archive"],
  ]);
});

test("what the engine refuses is told in its words, and what it says to what it was told to do is not read", async () => {
  await using engine = await startEngine((request, response) => {
    if (request.url === "/done") return response.writeHead(201).end("7f3c is no JSON");
    const said = request.url === "/json" ? `{"message":"no such thing","cause":"x"}` : "404 page not found\n";
    return response.writeHead(404).end(said);
  });
  await engine.client.tell({ method: "POST", path: "/done", signal });
  for (const [path, words] of [
    ["/json", "no such thing"],
    ["/text", "404 page not found"],
  ] as const) {
    const error = await engine.client.ask({ path, signal }).catch((problem: unknown) => problem);
    const { kind, message } = toEngineError(error, { call: "ask", socket: "s" }) as Error & { kind: string };
    assert.deepEqual([kind, message], ["missing", words]);
  }
});

test("a signal ends a question that waits, and an answer that is under way", async () => {
  await using engine = await startEngine((request, response) => {
    if (request.url === "/begun") response.write("beginning");
  });
  const waiting = new AbortController();
  const asked = engine.client.ask({ path: "/never", signal: waiting.signal });
  waiting.abort();
  await assert.rejects(asked, { name: "AbortError" });
  const reading = new AbortController();
  const stream = await engine.client.stream({ path: "/begun", signal: reading.signal });
  await once(stream, "data");
  reading.abort();
  await assert.rejects(text(stream));
});

test("an engine is known by its header, or by its version where that is kept from us", async () => {
  for (const [server, version, identity] of [
    ["Libpod/4.3.1 (linux)", undefined, { name: "podman", version: "4.3.1" }],
    ["Docker/28.1.0 (linux)", undefined, { name: "docker", version: "28.1.0" }],
    [
      "proxy",
      { Version: "5.0.0", Components: [{ Name: "Podman Engine" }] },
      { name: "podman", version: "5.0.0" },
    ],
    [undefined, { Version: "28.1.0" }, { name: "docker", version: "28.1.0" }],
  ] as const) {
    await using engine = await startEngine((request, response) => {
      if (server !== undefined) response.setHeader("server", server);
      response.end(request.url === "/_ping" ? "OK" : JSON.stringify(version));
    });
    assert.deepEqual(await identifyEngine(engine.client, signal), identity);
  }
});

async function startEngine(answer: (...exchange: Parameters<RequestListener>) => unknown) {
  const folder = mkdtempSync(join(tmpdir(), "engine-client-"));
  const socket = join(folder, "engine.sock");
  const server = createServer((...exchange) => void answer(...exchange)).listen(socket);
  await once(server, "listening");
  return {
    client: createEngineClient(socket),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
