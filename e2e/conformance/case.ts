import { test, type TestContext } from "node:test";

const CASE_MAX_MS = 240_000; // whatever it waits for has a deadline of its own; this tells which one had not

/** One case of the conformance tests. */
export function testCase(name: string, body: (context: TestContext) => Promise<void>): void {
  void test(name, { timeout: CASE_MAX_MS }, body);
}
