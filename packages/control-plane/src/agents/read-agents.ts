import type { AgentList, AgentRecord } from "@vocalhost/protocol";
import type { OrganizationId } from "../identity/principal.ts";
import { toDeployment } from "./deployments/manifest.ts";
import { notFound } from "@vocalhost/base/refusals";
import type { AgentRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import { toTime } from "@vocalhost/base/to-time";
import { toAgentRecord, type AgentFacts } from "./agent-record.ts";
import { ownFirst, type AgentAddress } from "./find-agent.ts";
import { readFacts, type FactsOfAgents } from "./read-facts.ts";

export async function readAgent(
  { db }: Pick<Store, "db">,
  organizationId: OrganizationId,
  { name, region }: Pick<AgentAddress, "name" | "region">,
): Promise<AgentRecord> {
  const facts = await readFacts(db, { organizationId, name });
  const [agent] = ownFirst(facts.agents.filter((each) => (region ?? each.region) === each.region));
  if (!agent) throw notFound("Not found");
  return recordOf(facts, agent);
}

function recordOf(facts: FactsOfAgents, agent: AgentRow): AgentRecord {
  return { ...toAgentRecord(facts.factsOf(agent)), regions: facts.regionsOf(agent.name) };
}

export async function listAgents(
  { db }: Pick<Store, "db">,
  organizationId: OrganizationId,
  options: { region?: string; includeActiveDeployment: boolean; includeRecord?: boolean },
): Promise<AgentList> {
  const facts = await readFacts(db, { organizationId });
  const agents = facts.agents.filter(({ region }) => (options.region ?? region) === region);
  return {
    services: agents.map((agent) => {
      const deployment = options.includeActiveDeployment ? desiredOf(facts.factsOf(agent)) : undefined;
      return {
        id: agent.id,
        name: agent.name,
        region: agent.region,
        desiredDeploymentId: agent.desiredDeploymentId,
        activeDeploymentId: agent.desiredDeploymentId,
        reconciledDeploymentId: agent.reconciledDeploymentId,
        organizationId,
        createdAt: toTime(agent.createdAt),
        updatedAt: toTime(agent.updatedAt),
        deletedAt: agent.deletedAt === null ? null : toTime(agent.deletedAt),
        ...(deployment ? { deployment } : {}),
        ...(options.includeRecord ? { record: recordOf(facts, agent) } : {}),
      };
    }),
  };
}

function desiredOf({ agent, organizationName, deployments }: AgentFacts) {
  const deployment = deployments.find(({ id }) => id === agent.desiredDeploymentId);
  return deployment && toDeployment({ agent, organizationName, deployment });
}
