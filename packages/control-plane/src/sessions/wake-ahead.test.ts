import assert from "node:assert/strict";
import { test } from "node:test";
import type { Driver } from "@vocalhost/drivers/driver";
import { eachStore } from "@vocalhost/store/testing/each-store";
import { startSession } from "./start-session.ts";
import { addWarmAgent, prepareOrganization, starterOn } from "./testing/warm-pools.ts";
import { wakeAhead } from "./doors/socket.ts";

eachStore((open) => {
  test("the instance that is woken for a client on its way is the one it gets", async () => {
    await using store = await open();
    const organizationId = await prepareOrganization(store);
    await addWarmAgent(store, organizationId, { id: "agent", name: "bot", maxAgents: 3 });
    const woken: string[] = [];
    const driver = { wake: async (id: string) => void woken.push(id) } as unknown as Driver;
    const taken = new Map<string, string>();
    const starter = starterOn(store, taken, { driver });
    await wakeAhead({ ...starter.world, keptAwake: undefined }, { id: "agent" });
    assert.deepEqual(woken, [], "where nothing rests");
    await wakeAhead({ ...starter.world, keptAwake: 0 }, { id: "agent" });
    await startSession(starter, {
      ...{ organizationId, agentName: "bot", transport: "websocket", body: {} },
      ...{ apiKeyId: null, concurrency: null, connect: { kind: "socket", callbackUrl: "" } },
    });
    assert.deepEqual([...new Set(woken)], [...taken.keys()]);
    const broken = { wake: () => Promise.reject(new Error("no engine")) } as unknown as Driver;
    await wakeAhead({ ...starter.world, driver: broken, keptAwake: 0 }, { id: "agent" });
  });
});
