// Far more starts at once than there is capacity, on both databases: the cap holds, and every start is answered.
import { isAppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { size } from "../../../../testing/sizes.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { startSession, type Starter } from "./start-session.ts";
import { addWarmAgent, prepareOrganization, starterOn } from "./testing/warm-pools.ts";

const STARTS = size(200, 10_000);
const CAP = 20;
const AT_ONCE = 50; // more would only queue for the same connections

eachStore((open) => {
  test(`${STARTS} starts against ${CAP} instances`, async (context) => {
    await using store = await open();
    const organizationId = await prepareOrganization(store);
    await addWarmAgent(store, organizationId, { id: "agent", name: "crowd", maxAgents: CAP });
    const taken = new Map<string, string>();
    const starter = starterOn(store, taken);
    const counts = { started: 0, refused: 0, "put off": 0 };
    for (let begun = 0; begun < STARTS; begun += AT_ONCE) {
      const crowd = Array.from({ length: Math.min(AT_ONCE, STARTS - begun) }, () =>
        start(starter, organizationId).then((how) => counts[how]++),
      );
      await Promise.all(crowd);
    }
    context.diagnostic(JSON.stringify(counts));
    assert.equal(new Set(taken.values()).size, taken.size, "no session has two instances");
    const active = await store.db.selectFrom("sessions").select("id").where("state", "=", "active").execute();
    assert.equal(active.length, counts.started, "who was refused left nothing behind, who was not is there");
    // On a starved machine a start may wait too long for the database, and is told to come back.
    if (counts["put off"] === 0) assert.deepEqual(counts, { ...counts, started: CAP, refused: STARTS - CAP });
    else assert.ok(counts.started <= CAP, "never one more");
  });
});

type Answer = "started" | "refused" | "put off";

async function start(starter: Starter, organizationId: OrganizationId): Promise<Answer> {
  try {
    await startSession(starter, {
      organizationId,
      agentName: "crowd",
      transport: "webrtc",
      body: {},
      apiKeyId: null,
      concurrency: null,
      connect: { kind: "webrtc", iceServers: [] },
    });
    return "started";
  } catch (error) {
    if (isAppError(error) && error.code === "AGENT-AT-CAPACITY") return "refused";
    if (isAppError(error) && error.code === "SERVICE_UNAVAILABLE") return "put off";
    throw error;
  }
}
