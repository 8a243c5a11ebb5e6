import { z } from "zod";
import { RegionQuery } from "./agents.ts";
import { operations } from "./operation.ts";
import { Time } from "./values.ts";

/** One running copy of an agent. */
export const Instance = z.object({
  id: z.string(),
  state: z.enum(["requested", "starting", "ready", "busy", "draining"]),
  deploymentId: z.string(),
  /** The session it is reserved for or runs. */
  sessionId: z.string().nullable(),
  createdAt: Time,
  /** When it entered its state. */
  stateAt: Time,
  readyAt: Time.nullable(),
  /** Says in words why a requested instance has not booted yet. */
  waitsFor: z.string().optional(),
});
export type Instance = z.infer<typeof Instance>;

/** An agent's instances at this moment, oldest first, and the bounds they keep. */
export const Pool = z.object({
  minAgents: z.number().int(),
  maxAgents: z.number().int(),
  counts: z.object({
    starting: z.number().int(),
    warm: z.number().int(),
    busy: z.number().int(),
    draining: z.number().int(),
  }),
  instances: z.array(Instance),
});
export type Pool = z.infer<typeof Pool>;

export const poolOperations = operations("Agents", {
  pool: {
    id: "getPool",
    summary: "The agent's instances at this moment",
    method: "GET",
    path: "/agents/:serviceName/pool",
    right: "view",
    query: RegionQuery,
    answer: Pool,
  },
});
