// Checks of refusals, for tests.
import type { ApiError } from "@vocalhost/protocol";
import assert from "node:assert/strict";

export interface Refusal {
  body: Record<string, unknown>;
  /** @default 400 */
  status?: number;
  error: string;
  /** @default GENERIC_BAD_REQUEST */
  code?: string;
  /** The field named in `detail`. */
  field?: string;
}

export async function checkRefusal(response: Response, expected: Omit<Refusal, "body">): Promise<void> {
  const { error, code, detail } = (await response.json()) as { error: string; code: string; detail: unknown };
  assert.deepEqual(
    { status: response.status, error, code },
    {
      status: expected.status ?? 400,
      error: expected.error,
      code: expected.code ?? "GENERIC_BAD_REQUEST",
    },
  );
  if (expected.field === undefined) return assert.equal(detail, undefined);
  const fields = (detail as { loc: string[] }[]).map(({ loc }) => loc.slice(1).join("."));
  assert.ok(fields.includes(expected.field), JSON.stringify(detail));
}

export async function rejects(
  promise: Promise<unknown>,
  status: number,
  code: string,
  message: string,
): Promise<void> {
  await assert.rejects(promise, (error: ApiError) => {
    assert.deepEqual(
      { status: error.status, code: error.code, message: error.message },
      { status, code, message },
    );
    return true;
  });
}
