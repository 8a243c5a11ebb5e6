import { AppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { z } from "zod";
import { createCollectedLog } from "../testing/collected-log.ts";
import { installErrorReplies, parseRequest } from "./error-replies.ts";

test("a refusal leaves as error, code and detail", async () => {
  const { reply, entries } = await replyTo(new AppError("NOT_FOUND", { message: "There is no such file" }));
  assert.equal(reply.statusCode, 404);
  assert.deepEqual(reply.json(), {
    error: "There is no such file",
    code: "NOT_FOUND",
    detail: "There is no such file",
  });
  assert.equal(reply.headers["retry-after"], undefined);
  assert.deepEqual(entries, []);
});

test("what may be tried again says when, and is no cause for alarm", async () => {
  const { reply, entries } = await replyTo(new AppError("BOT_NOT_READY"));
  assert.equal(reply.statusCode, 503);
  assert.equal(reply.headers["retry-after"], "1");
  assert.deepEqual(entries, []);
});

test("a failure reveals nothing to the caller and everything to the log", async () => {
  for (const failure of [new Error("password is hunter2"), "password is hunter2", { password: "hunter2" }]) {
    const { reply, entries } = await replyTo(failure);
    assert.equal(reply.statusCode, 500);
    assert.deepEqual(reply.json(), {
      error: "Internal server error",
      code: "INTERNAL_SERVER_ERROR",
      detail: "Internal server error",
    });
    assert.deepEqual(
      entries.map(({ level, message, fields }) => [level, message, fields["path"]]),
      [["error", "request failed", "/x"]], // without the query: it may hold a token
    );
  }
});

test("the web framework's own refusals get our codes", async () => {
  const from = (statusCode: number, code?: string) =>
    Object.assign(new Error("inside"), { statusCode, code });
  const cases: [unknown, string][] = [
    [from(413, "FST_ERR_CTP_BODY_TOO_LARGE"), "PAYLOAD_TOO_LARGE"],
    [from(415, "FST_ERR_CTP_INVALID_MEDIA_TYPE"), "UNSUPPORTED_MEDIA_TYPE"],
    [from(400, "FST_ERR_CTP_INVALID_CONTENT_LENGTH"), "INVALID_REQUEST"],
    [from(404), "NOT_FOUND"],
    [from(403), "ACCESS_DENIED"],
    [from(500), "INTERNAL_SERVER_ERROR"],
  ];
  for (const [error, code] of cases) {
    const { reply } = await replyTo(error);
    assert.equal(reply.json<{ code: string }>().code, code);
    assert.ok(!reply.body.includes("inside"));
  }
});

test("a user's route may refuse with a status and words of its own", async () => {
  const { reply, entries } = await replyTo(Object.assign(new Error("Taken already"), { statusCode: 409 }));
  assert.equal(reply.statusCode, 409);
  assert.deepEqual(reply.json(), {
    error: "Taken already",
    code: "INVALID_REQUEST",
    detail: "Taken already",
  });
  assert.deepEqual(entries, []);
});

test("a path without a route is named, without its query", async () => {
  const { app } = start();
  const reply = await app.inject({ method: "PUT", url: "/nowhere?token=secret" });
  assert.equal(reply.statusCode, 404);
  assert.deepEqual(reply.json(), {
    error: "There is no PUT /nowhere",
    code: "NOT_FOUND",
    detail: "There is no PUT /nowhere",
  });
});

test("a request is read with its schema, or every field that is wrong is named", () => {
  const Schema = z.object({ sdp: z.string(), list: z.array(z.object({ mid: z.string() })).optional() });
  assert.deepEqual(parseRequest(Schema, { sdp: "v=0", more: 1 }), { sdp: "v=0" });
  assert.deepEqual(parseRequest(z.object({ a: z.string().optional() }), undefined), {});
  assert.throws(
    () => parseRequest(Schema, { list: [{ mid: "0" }, { mid: 1 }] }),
    (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.code, "INVALID_REQUEST");
      assert.equal(error.status, 422);
      assert.match(error.message, /^body\.sdp: /);
      assert.deepEqual(
        error.problems?.map(({ loc, type }) => [loc, type]),
        [
          [["body", "sdp"], "invalid_type"],
          [["body", "list", 1, "mid"], "invalid_type"],
        ],
      );
      assert.equal(error.toBody().detail, error.problems);
      return true;
    },
  );
});

function start() {
  const { log, entries } = createCollectedLog();
  const app = Fastify();
  installErrorReplies(app, log);
  return { app, entries };
}

async function replyTo(thrown: unknown) {
  const { app, entries } = start();
  app.get("/x", async () => {
    throw thrown;
  });
  return { reply: await app.inject("/x?token=secret"), entries };
}
