import { AgentProfile, agentProfileOperations } from "@vocalhost/protocol";
import { agentProfiles } from "../agents/deployments/deployment-spec.ts";
import { handle, type Handled } from "./operation.ts";

export function handleAgentProfiles(): Handled[] {
  return handle(agentProfileOperations)({
    agentProfiles: async () => ({
      agentProfiles: AgentProfile.options.map((name) => {
        const { cpuMillicores, memoryMib, manifest: resources } = agentProfiles[name];
        const display_name = `${cpuMillicores / 1000} vCPU, ${memoryMib / 1024} GiB`;
        return { api_name: name, display_name, resources, custom: false, enabled: true };
      }),
    }),
  });
}
