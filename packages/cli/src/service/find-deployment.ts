import { aboutAgent } from "./explain.ts";
import { findId } from "./find-id.ts";
import type { Service } from "./open-service.ts";

/** A deployment of an agent by its id or the beginning of it. */
export async function findDeployment(
  service: Service,
  { agentName, region }: { agentName: string; region?: string | undefined },
  given: string,
): Promise<string> {
  return findId(given, {
    what: "deployment",
    listedBy: `vocalhost agent deployments ${agentName}`,
    async known() {
      const listed = service.api.agents.deployments(agentName, { region });
      const { deployments } = await aboutAgent(service, agentName, listed);
      return deployments.map(({ id }) => id);
    },
  });
}
