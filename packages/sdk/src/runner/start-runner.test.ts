import assert from "node:assert/strict";
import type { FastifyRequest } from "fastify";
import { test } from "node:test";
import { socketBase } from "./start-runner.ts";

test("a client finds WebSockets where it found us", () => {
  const host = "localhost:7860";
  const cases: [Record<string, string | string[]>, string | undefined, string][] = [
    [{ host }, undefined, "ws://localhost:7860"],
    [{ host: "[::1]:7860" }, undefined, "ws://[::1]:7860"],
    [{ host, "x-forwarded-proto": "https" }, undefined, "wss://localhost:7860"],
    [{ host, "x-forwarded-proto": "https, http" }, undefined, "wss://localhost:7860"],
    [{ host, "x-forwarded-proto": "http,https" }, undefined, "ws://localhost:7860"],
    [{ host, "x-forwarded-proto": ["https", "http"] }, undefined, "wss://localhost:7860"],
    [{ host, "x-forwarded-proto": "" }, undefined, "ws://localhost:7860"],
    [{ host }, "bots.example.com", "wss://bots.example.com"],
    [{ host, "x-forwarded-proto": "http" }, "bots.example.com:8443", "wss://bots.example.com:8443"],
  ];
  for (const [headers, proxy, base] of cases)
    assert.equal(socketBase({ headers } as unknown as FastifyRequest, proxy), base);
});
