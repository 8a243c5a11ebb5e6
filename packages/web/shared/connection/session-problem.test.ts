import assert from "node:assert/strict";
import { test } from "node:test";
import { problemFromConnect, problemFromFatal, problemFromStart } from "./session-problem.ts";

const withStatus = (status?: number) => Object.assign(new Error("message"), { status });

test("a refused start shows the runner's words", () => {
  const refused = (error: unknown, refusal?: unknown) =>
    problemFromStart({ error, refusal, runnerAnswers: true });
  const found = refused(withStatus(400), "Unknown transport 'x'.");
  assert.equal(found.code, "start-refused");
  assert.equal(found.detail, "Unknown transport 'x'.");
  assert.equal(refused(withStatus(503)).detail, "HTTP status 503");
  assert.equal(refused(new SyntaxError("x")).code, "start-refused");
});

test("no answer at all means the runner is not there", () => {
  const gone = { error: withStatus(500), refusal: "Failed to fetch", runnerAnswers: false };
  assert.equal(problemFromStart(gone).code, "runner-unreachable");
});

test("a refused offer is a refusal, the rest is the link's failure", () => {
  assert.equal(problemFromConnect(withStatus(404), "connection-failed").code, "start-refused");
  assert.equal(problemFromConnect(withStatus(), "socket-failed").code, "socket-failed");
});

test("a socket closed normally is no problem, other fatal errors are", () => {
  const close = (code: number) => `websocket connection closed. Code: ${code}`;
  assert.equal(problemFromFatal(close(1000)), undefined);
  assert.equal(problemFromFatal(close(1006))?.code, "connection-lost");
  assert.equal(problemFromFatal("websocket connection timed out")?.code, "connection-lost");
  assert.deepEqual(problemFromFatal("no credit left")?.detail, "no credit left");
  assert.equal(problemFromFatal(undefined)?.code, "bot-failed");
});
