import { AgentProfileList } from "@vocalhost/protocol";
import { agentProfiles } from "../agents/deployments/deployment-spec.ts";
import { defineOperation, type Operation } from "./operation.ts";

export function agentProfileOperations(): Operation[] {
  return [
    defineOperation({
      id: "listAgentProfiles",
      tag: "Agents",
      summary: "What an instance may be given of CPU and memory",
      method: "GET",
      path: "/agent-profiles",
      right: "view",
      answers: { 200: AgentProfileList },
      run: async () => ({
        agentProfiles: Object.entries(agentProfiles).map(
          ([name, { cpuMillicores, memoryMib, manifest }]) => ({
            api_name: name,
            display_name: `${cpuMillicores / 1000} vCPU, ${memoryMib / 1024} GiB`,
            resources: manifest,
            custom: false,
            enabled: true,
          }),
        ),
      }),
    }),
  ];
}
