import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../providers/request.ts";
import { attachLog } from "../transports/session-hooks.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import type { Transport } from "../transports/transport.ts";
import { reportFailure } from "./report-failure.ts";

function report(error: unknown): { told: string[]; logged: string } {
  const told: string[] = [];
  const transport = { rtvi: { error: (text: string) => void told.push(text) } } as unknown as Transport;
  const { log, entries } = createCollectedLog();
  attachLog(transport, log);
  reportFailure(transport, error);
  return { told, logged: JSON.stringify(entries) };
}

test("what a vendor answered reaches neither log nor client", () => {
  const { told, logged } = report(
    new ServiceError("OpenAI answered 401", {
      status: 401,
      answer: "Incorrect API key provided: sk-secret",
      cause: new Error("fetch failed", { cause: new Error("connect ECONNREFUSED") }),
    }),
  );
  assert.deepEqual(told, ["OpenAI answered 401"]);
  assert.match(logged, /OpenAI answered 401/);
  assert.match(logged, /fetch failed: connect ECONNREFUSED/);
  assert.doesNotMatch(logged, /sk-secret/);
});

test("anything else that is thrown is an error", () => {
  assert.deepEqual(report("odd").told, ["odd"]);
});
