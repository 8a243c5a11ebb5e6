import assert from "node:assert/strict";
import { test } from "node:test";
import { startFakeService } from "../testing/fake-service.ts";
import { startVocalhostAt, type FinishedProgram } from "../testing/run-vocalhost.ts";

const quota = (used: number, limit: number) => ({ used, limit });

test("organisations are made, listed, and shown with what they may have", async () => {
  let isMade = false;
  await using service = await startFakeService({
    "GET /v1/organizations": () => ({
      body: {
        organizations: [
          { name: "main", verboseName: "Main", role: "owner" },
          ...(isMade ? [{ name: "acme", verboseName: "Acme Ltd", role: "owner" }] : []),
        ],
      },
    }),
    "POST /v1/organizations": (body) => {
      if (isMade) return { status: 409, body: { error: "There is one named 'acme'", code: "CONFLICT" } };
      assert.deepEqual(JSON.parse(body), { name: "acme", verboseName: "Acme Ltd" });
      isMade = true;
      return { status: 201, body: { name: "acme", verboseName: "Acme Ltd" } };
    },
    "GET /v1/organizations/acme/quotas": {
      body: { agents: quota(1, 5), instances: quota(2, 20), builds: quota(0, 2), diskMib: quota(3, 1024) },
    },
  });
  const run = (...words: string[]): Promise<FinishedProgram> =>
    startVocalhostAt(
      { environment: { VOCALHOST_API_URL: `${service.url}/v1`, VOCALHOST_API_KEY: "a-person" } },
      "organizations",
      ...words,
    ).finished;
  const made = await run("create", "acme", "--title", "Acme Ltd");
  assert.equal(made.exitCode, 0, made.errors);
  assert.match(made.output, /Created the organisation acme\. Work in it with --organization acme/);
  assert.match((await run("create", "acme", "--title", "Acme Ltd")).errors, /There is one named 'acme'/);
  assert.match((await run("list")).output, /acme\s+Acme Ltd\s+owner/);
  assert.match((await run("quotas", "--organization", "acme")).output, /Instances\s+2\s+20/);
});
