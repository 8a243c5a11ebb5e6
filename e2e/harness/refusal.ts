import assert from "node:assert/strict";
import { errorTable, type ErrorCode } from "@vocalhost/protocol";
import type { Answer } from "./raw-http.ts";

/** Every refusal has a code of the table with its status, a sentence, and what released clients show. */
export function assertRefused(
  answer: Pick<Answer, "status" | "body">,
  code: ErrorCode,
  sentence?: string | RegExp,
): void {
  const shown = `${answer.status} ${answer.body}`;
  const body = JSON.parse(answer.body) as { error?: unknown; code?: unknown; detail?: unknown };
  assert.equal(body.code, code, shown);
  assert.equal(answer.status, errorTable[code].status, shown);
  assert.equal(typeof body.error, "string", shown);
  assert.ok(body.error, shown);
  assert.ok(Array.isArray(body.detail) ? body.detail.length > 0 : body.detail === body.error, shown);
  if (typeof sentence === "string") assert.equal(body.error, sentence);
  if (sentence instanceof RegExp) assert.match(body.error as string, sentence);
  assert.doesNotMatch(answer.body, /node_modules|\.[jt]s:\d+|\bat .+\(/, "an answer shows the inside");
}
