import { deploymentOperations } from "@vocalhost/protocol";
import { findAgent } from "../agents/find-agent.ts";
import { readAgent } from "../agents/read-agents.ts";
import { readOrganizationName } from "@vocalhost/store/organization-name";
import { rollBack } from "../agents/roll-back.ts";
import { listDeployments } from "../agents/deployments/list-deployments.ts";
import { deployContext } from "./agents.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export function handleDeployments(ports: ApiPorts): Handled[] {
  const { store } = ports;
  const context = deployContext(ports);
  return handle(deploymentOperations)({
    deployments: async ({ organizationId, params, query }) => {
      const agent = await findAgent(store.db, organizationId, { name: params.serviceName, ...query });
      const organizationName = await readOrganizationName(store.db, organizationId);
      return listDeployments(store, organizationId, { agent, organizationName });
    },
    rollback: async ({ organizationId, params, query, body, actor }) => {
      const address = { name: params.serviceName, ...query };
      const { deploymentId } = body;
      const done = await rollBack(context, organizationId, { ...address, deploymentId, actor });
      ports.nudge(done.agentId);
      return readAgent(store, organizationId, { ...address, region: done.region });
    },
  });
}
