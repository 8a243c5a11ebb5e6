// Two controllers on one Postgres and two gateways, with bots as pods. Whichever of them is killed, calls go on and are
// billed once, and no pod is left to nobody.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { postgresIsMissing } from "../../packages/store/src/testing/test-postgres.ts";
import { until } from "../../testing/wait.ts";
import { clusterIsMissing, startCluster, type Cluster } from "../harness/cluster.ts";
import { freePeerClients } from "../harness/peer-client.ts";
import { nothingIsOrphaned, type Books } from "./leftovers.ts";
import { callOverSocket, callOverWebRtc, countingBot, goOn, hangUp, type Door } from "./live-calls.ts";
import { openTestCluster, type TestCluster } from "./test-cluster.ts";

const AGENT = "echo";
const TAKEN_OVER_MS = 10_000;
const ENDED_MS = 60_000;
const READY_PORTS: Record<string, number> = { "machine-a": 7871, "machine-b": 7872 };

describe(
  "two controllers and two gateways with pods",
  { skip: postgresIsMissing() ?? clusterIsMissing() },
  () => {
    const stack = new AsyncDisposableStack();
    let kubernetes: TestCluster;
    let cluster: Cluster;
    let doors: [Door, Door];
    before(async () => {
      kubernetes = stack.use(await openTestCluster());
      stack.defer(removeBots); // they outlive controllers
      cluster = await startCluster(stack, {
        environment: kubernetes.settings(),
        own: (name) => kubernetes.settings(READY_PORTS[name]),
      });
      const [first, second] = cluster.gateways.map((gateway) => ({
        ...gateway,
        publicKey: cluster.publicKey,
      }));
      doors = [first!, second!];
      const { api } = cluster.gateways[0]!;
      await api.agents.create({
        serviceName: AGENT,
        image: await kubernetes.push(countingBot()),
        autoScaling: { minAgents: 2, maxAgents: 6 }, // as many as fit on a node of two cores
        vendorViva: { audioFilter: "tel" }, // so that calls are in the ledger
      });
      await until(async () => (await api.agents.get(AGENT)).ready, 90_000, "ready agent");
    });
    afterEach((context) => {
      if ("passed" in context && !context.passed) process.stderr.write(`${cluster.complaints()}\n`);
    });
    after(async () => {
      freePeerClients();
      await stack.disposeAsync();
    });

    const books: Books = {
      async liveInstances() {
        const { db } = cluster.store;
        const rows = db.selectFrom("instances").select("id").where("state", "not in", ["stopped", "lost"]);
        return (await rows.execute()).map(({ id }) => id);
      },
      openSessions: () =>
        cluster.store.db
          .selectFrom("sessions")
          .select(["id", "instanceId"])
          .where("state", "in", ["starting", "active", "stopping"])
          .execute(),
    };

    async function removeBots(): Promise<void> {
      const { api, namespace } = kubernetes;
      for (const { metadata } of (await api.listNamespacedPod({ namespace })).items) {
        const name = metadata?.name ?? "";
        const body = [{ op: "remove", path: "/metadata/finalizers" }];
        await api.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
        await api.patchNamespacedPod({ namespace, name, body }).catch(() => undefined); // it had none any more
      }
    }

    /** Each has ended for that reason, and is in the ledger once. Gives the seconds of all of them. */
    async function billed(sessionIds: string[], reason: string): Promise<number> {
      const { db } = cluster.store;
      let seconds = 0;
      for (const id of sessionIds) {
        const session = await until(
          async () => {
            const row = await db.selectFrom("sessions").selectAll().where("id", "=", id).executeTakeFirst();
            return row?.state === "ended" && row;
          },
          ENDED_MS,
          `end of session ${id}`,
        );
        assert.equal(session.endReason, reason);
        const usage = await db.selectFrom("usage").select("seconds").where("sessionId", "=", id).execute();
        // On a quick machine one is over within a second, which is none in the ledger.
        assert.deepEqual(usage, session.seconds === 0 ? [] : [{ seconds: session.seconds }]);
        seconds += session.seconds ?? 0;
      }
      return seconds;
    }

    test("the one that leads is killed: the other leads, no call drops, none is billed twice, no pod is lost", async (context) => {
      using call = await callOverSocket(doors[0], AGENT);
      using over = await callOverSocket(doors[1], AGENT);
      using peer = await callOverWebRtc(doors[1], AGENT);
      await goOn([call, over], [peer]);
      const dead = await cluster.leader();
      const killedMs = performance.now();
      await dead.end("SIGKILL");
      await hangUp([over]); // while no controller leads
      await until(
        () => doors[1].publicApi.sessions.start(AGENT, { transport: "websocket" }).catch(() => undefined),
        TAKEN_OVER_MS,
        "start",
      );
      context.diagnostic(`a start after ${Math.round(performance.now() - killedMs)} ms`);
      await cluster.leader(dead.name);
      await goOn([call], [peer]);
      using next = await callOverSocket(doors[0], AGENT);
      await goOn([call, next], [peer]);
      await cluster.startController(dead.name);
      await hangUp([call, next], [peer]);
      const sessionIds = [call, over, next].map(({ sessionId }) => sessionId);
      assert.ok((await billed(sessionIds, "bot-finished")) > 0);
      await billed([peer.sessionId], "client-left");
      await nothingIsOrphaned(kubernetes, books);
    });

    test("a gateway is killed: calls through the other go on, sound that went past it too, and every start works", async () => {
      const [stays, dies] = doors;
      using call = await callOverSocket(stays, AGENT);
      using carried = await callOverSocket(dies, AGENT);
      using peer = await callOverWebRtc(dies, AGENT); // only its offer went through it
      await goOn([call, carried], [peer]);
      await cluster.gateways[1]!.process.end("SIGKILL");
      await carried.closed();
      await goOn([call], [peer]);
      using next = await callOverSocket(stays, AGENT);
      using nextPeer = await callOverWebRtc(stays, AGENT);
      await goOn([call, next], [peer, nextPeer]);
      await hangUp([call, next], [peer, nextPeer]);
      assert.ok((await billed([call.sessionId, next.sessionId], "bot-finished")) > 0);
      await billed([peer.sessionId, nextPeer.sessionId], "client-left");
      await billed([carried.sessionId], "client-lost");
      await nothingIsOrphaned(kubernetes, books);
    });
  },
);
