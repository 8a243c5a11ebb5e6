import { z } from "zod";
import { AgentProfile } from "./agent-settings.ts";
import { operations } from "./operation.ts";

/** The CPU and memory profiles of instances. The list is fixed. */
export const AgentProfileList = z.object({
  agentProfiles: z.array(
    z.object({
      api_name: AgentProfile,
      display_name: z.string(),
      resources: z.object({ cpu: z.string(), memory: z.string() }),
      custom: z.literal(false),
      enabled: z.literal(true),
    }),
  ),
});
export type AgentProfileList = z.infer<typeof AgentProfileList>;

export const agentProfileOperations = operations("Agents", {
  agentProfiles: {
    id: "listAgentProfiles",
    summary: "What an instance may be given of CPU and memory",
    method: "GET",
    path: "/agent-profiles",
    right: "view",
    answer: AgentProfileList,
  },
});
