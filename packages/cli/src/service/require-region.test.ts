import type { AgentRecord } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { requireRegion } from "./find.ts";

const inRegions = (...regions: string[]): AgentRecord => ({ regions }) as unknown as AgentRecord;

test("of an agent in several regions one has to be named", () => {
  const agent = "parrot";
  requireRegion(inRegions("us-west"), { agent, region: undefined });
  requireRegion({} as AgentRecord, { agent, region: null }); // a service that does not tell
  requireRegion(inRegions("us-west", "eu-north"), { agent, region: "eu-north" });
  assert.throws(() => requireRegion(inRegions("us-west", "eu-north"), { agent, region: undefined }), {
    code: "region_needed",
    message: "'parrot' is in several regions: us-west, eu-north",
  });
});
