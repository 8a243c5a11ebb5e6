// One name in two regions, on both databases: where starts go, and what their records say.
import { isAppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { OrganizationId } from "../identity/principal.ts";
import type { Driver } from "@vocalhost/drivers/driver";
import type { SessionRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { preferenceOf, type RegionPreference } from "./choose-region.ts";
import { findForSocket, pendingFor } from "./doors/pending-socket.ts";
import { startSession, type Starter } from "./start-session.ts";
import { addWarmAgent, prepareOrganization, starterOn } from "./testing/warm-pools.ts";

interface Ground {
  starter: Starter;
  organizationId: OrganizationId;
  down: Set<string>;
  /** Region and reason of the session it became, or the code of the refusal. */
  start(preference?: Partial<RegionPreference>, pending?: SessionRow): Promise<string>;
}

const NAME = "parrot";
const PLACES = 3; // each

async function prepare(store: Store): Promise<Ground> {
  const organizationId = await prepareOrganization(store);
  for (const [index, region] of ["us-west", "eu-north"].entries())
    await addWarmAgent(store, organizationId, {
      ...{ id: `agent-${region}`, name: NAME, region, maxAgents: PLACES, createdAt: index },
    });
  const down = new Set<string>();
  const regional = { codes: [], in: () => driver, away: () => down } satisfies Driver["regional"];
  const driver = { regional } as unknown as Driver;
  const starter = starterOn(store, new Map(), { driver });
  return {
    ...{ starter, organizationId, down },
    start: (preference, pending) =>
      startSession(starter, {
        ...{ organizationId, agentName: NAME, transport: "websocket", body: {}, pending },
        ...{ apiKeyId: null, concurrency: null, connect: { kind: "socket", callbackUrl: "" } },
        region: pending ? preferenceOf(pending) : { asked: null, stays: false, ...preference },
      }).then(
        async ({ session, instance }) => {
          const kept = await store.db
            .selectFrom("sessions")
            .selectAll()
            .where("id", "=", session.id)
            .executeTakeFirstOrThrow();
          assert.equal(kept.agentId, `agent-${kept.region}`);
          assert.equal(instance?.agentId, kept.agentId);
          assert.equal(session.regionReason, kept.regionReason);
          return `${kept.region} ${kept.regionReason}`;
        },
        (error: unknown) => (isAppError(error) ? error.code : Promise.reject(error)),
      ),
  };
}

eachStore((open) => {
  test("a start goes to the region that was asked for, else to the agent's own", async () => {
    await using store = await open();
    const { start } = await prepare(store);
    assert.equal(await start(), "us-west own");
    assert.equal(await start({ asked: "eu-north" }), "eu-north requested");
    assert.equal(await start({ asked: "ap-south" }), "us-west nearest;ap-south=absent");
    assert.equal(await start({ asked: "ap-south", stays: true }), "GENERIC_BAD_REQUEST");
  });

  test("one that is full or down hands on to the next, unless the caller stays", async () => {
    await using store = await open();
    const { start, down } = await prepare(store);
    for (let place = 0; place < PLACES; place++) assert.equal(await start(), "us-west own");
    assert.equal(await start(), "eu-north nearest;us-west=full");
    assert.equal(await start({ stays: true }), "AGENT-AT-CAPACITY");
    down.add("eu-north");
    // An instance that waits there already is better than none.
    assert.equal(await start(), "eu-north nearest;us-west=full");
    assert.equal(await start({ asked: "eu-north", stays: true }), "eu-north requested");
    assert.equal(await start(), "AGENT-AT-CAPACITY");
    assert.equal(await start({ asked: "eu-north", stays: true }), "AGENT-AT-CAPACITY");
  });

  test("where all are down and nothing waits, that is what is said", async () => {
    await using store = await open();
    const { start, down } = await prepare(store);
    await store.db.deleteFrom("instances").execute();
    down.add("us-west");
    assert.equal(await start({ stays: true }), "REGION_DOWN");
    down.add("eu-north");
    assert.equal(await start(), "REGION_DOWN");
    const rows = await store.db.selectFrom("instances").select("id").execute();
    assert.deepEqual(rows, [], "nothing is wanted where no driver can make it");
  });

  test("one region without a deployment that is ready does not disturb the other", async () => {
    await using store = await open();
    const { start } = await prepare(store);
    const failed = { phase: "Failed" as const };
    const deployment = store.db.updateTable("deployments").set(failed).where("agentId", "=", "agent-us-west");
    await deployment.execute();
    assert.equal(await start(), "eu-north nearest;us-west=not-ready");
    assert.equal(await start({ stays: true }), "AGENT-1001");
  });

  test("a session that waits for its socket moves when its region has gone", async () => {
    await using store = await open();
    const { start, starter, organizationId, down } = await prepare(store);
    const wait = async (asked: string, stays: boolean): Promise<SessionRow> => {
      const region = { asked, stays };
      const session = { organizationId, agentName: NAME, region };
      const found = await findForSocket(starter.world, session);
      const own = { transport: "websocket", body: {}, apiKeyId: null, concurrency: null } as const;
      return (await pendingFor(starter.world, { ...session, ...own }, found)).row;
    };
    const [free, bound] = [await wait("eu-north", false), await wait("eu-north", true)];
    assert.deepEqual([free.region, free.regionReason], ["eu-north", "requested"]);
    await store.db.deleteFrom("instances").where("agentId", "=", "agent-eu-north").execute();
    down.add("eu-north");
    assert.equal(await start({}, bound), "REGION_DOWN");
    assert.equal(await start({}, free), "us-west nearest;eu-north=down");
  });

  test("callers who cross each other's ways fill both regions and no more", async () => {
    await using store = await open();
    const { start } = await prepare(store);
    const crowd = await Promise.all(
      Array.from({ length: 4 * PLACES }, (_, index) =>
        start({ asked: index % 2 === 0 ? "us-west" : "eu-north" }),
      ),
    );
    const count = (pattern: RegExp): number => crowd.filter((answer) => pattern.test(answer)).length;
    assert.deepEqual(
      [count(/^us-west /), count(/^eu-north /), count(/^AGENT-AT-CAPACITY$/)],
      [PLACES, PLACES, 2 * PLACES],
    );
  });

  test("a name is an agent's once in a region", async () => {
    await using store = await open();
    const { organizationId } = await prepare(store);
    const twin = { id: randomUUID(), name: NAME, region: "eu-north", maxAgents: 1 };
    await assert.rejects(addWarmAgent(store, organizationId, twin));
  });
});
