import { poolOperations, type Instance, type Pool } from "@vocalhost/protocol";
import { bootsBefore } from "../agents/boots-before.ts";
import { findAgent } from "../agents/find-agent.ts";
import { toTime } from "@vocalhost/base/to-time";
import type { InstanceRow } from "@vocalhost/store/schema";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

const INSTANCES_MAX = 500; // more than any pool holds during a rollout
const PRESENT = ["requested", "starting", "ready", "busy", "draining"] as const;

export function handlePools({ store }: ApiPorts): Handled[] {
  return handle(poolOperations)({
    pool: async ({ organizationId, params, query }): Promise<Pool> => {
      const agent = await findAgent(store.db, organizationId, { name: params.serviceName, ...query });
      const rows = await store.db
        .selectFrom("instances")
        .selectAll()
        .where("organizationId", "=", organizationId)
        .where("agentId", "=", agent.id)
        .where("state", "in", [...PRESENT])
        .orderBy("createdAt")
        .orderBy("id")
        .limit(INSTANCES_MAX)
        .execute();
      const isWaiting = rows.some(({ state }) => state === "requested");
      const before = isWaiting ? await bootsBefore(store.db, agent) : undefined;
      const count = (...states: InstanceRow["state"][]) =>
        rows.filter(({ state }) => states.includes(state)).length;
      return {
        minAgents: agent.minAgents,
        maxAgents: agent.maxAgents,
        counts: {
          starting: count("requested", "starting"),
          warm: count("ready"),
          busy: count("busy"),
          draining: count("draining"),
        },
        instances: rows.map((row) => toInstance(row, before?.get(row.id))),
      };
    },
  });
}

function toInstance(row: InstanceRow, before: number | undefined): Instance {
  return {
    id: row.id,
    state: row.state as Instance["state"], // the query selects no other
    deploymentId: row.deploymentId,
    sessionId: row.sessionId,
    createdAt: toTime(row.createdAt),
    stateAt: toTime(row.stateAt),
    readyAt: row.readyAt === null ? null : toTime(row.readyAt),
    ...(before === undefined ? {} : { waitsFor: `waiting for its turn to boot (${before} before it)` }),
  };
}
