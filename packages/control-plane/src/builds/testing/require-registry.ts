import { execFile } from "node:child_process";
import { promisify } from "node:util";

const ANSWER_LIMIT_MS = 15_000;
const PROBE_LIMIT_MS = 45_000; // npm itself needs a while on a busy machine

/**
 * Fails with one sentence if the package registry cannot be reached, instead of letting `npm install` retry for
 * minutes.
 */
export async function requireRegistry(
  options: { registry?: string; answerLimitMs?: number } = {},
): Promise<void> {
  const { registry, answerLimitMs = ANSWER_LIMIT_MS } = options;
  const args = ["view", "is-number", "version", "--fetch-retries=0", `--fetch-timeout=${answerLimitMs}`];
  if (registry !== undefined) args.push(`--registry=${registry}`);
  try {
    await promisify(execFile)("npm", args, { timeout: PROBE_LIMIT_MS, killSignal: "SIGKILL" });
  } catch (cause) {
    throw new Error(
      "This test installs packages, and the package registry that npm is configured to use cannot be reached.",
      { cause },
    );
  }
}
