import { AgentRecord, DeploymentList, RegionQuery, Rollback } from "@vocalhost/protocol";
import { findAgent } from "../agents/find-agent.ts";
import { readAgent } from "../agents/read-agents.ts";
import { readOrganizationName } from "@vocalhost/store/organization-name";
import { rollBack } from "../agents/roll-back.ts";
import { listDeployments } from "../agents/deployments/list-deployments.ts";
import { AgentParams, deployContext } from "./agents.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

const tag = "Deployments";

export function deploymentOperations(ports: ApiPorts): Operation[] {
  const { store } = ports;
  const context = deployContext(ports);
  return [
    defineOperation({
      id: "listDeployments",
      tag,
      summary: "Deployments of an agent, newest first",
      method: "GET",
      path: "/agents/:serviceName/deployments",
      alias: "/services/:serviceName/deployments",
      right: "view",
      params: AgentParams,
      query: RegionQuery,
      answers: { 200: DeploymentList },
      run: async ({ organizationId, params, query }) => {
        const agent = await findAgent(store.db, organizationId, { name: params.serviceName, ...query });
        const organizationName = await readOrganizationName(store.db, organizationId);
        return listDeployments(store, organizationId, { agent, organizationName });
      },
    }),
    defineOperation({
      id: "rollBackAgent",
      tag,
      summary: "Roll out again what an earlier deployment ran",
      method: "POST",
      path: "/agents/:serviceName/rollback",
      alias: "/services/:serviceName/rollback",
      right: "manage",
      params: AgentParams,
      query: RegionQuery,
      body: Rollback,
      answers: { 200: AgentRecord },
      refusals: [409],
      run: async ({ organizationId, params, query, body, actor }) => {
        const address = { name: params.serviceName, ...query };
        const { deploymentId } = body;
        const done = await rollBack(context, organizationId, { ...address, deploymentId, actor });
        ports.nudge(done.agentId);
        return readAgent(store, organizationId, { ...address, region: done.region });
      },
    }),
  ];
}
