import {
  agentOperations,
  translateSettings,
  type AgentRecord,
  type UpdateAgent,
  type FieldProblem,
} from "@vocalhost/protocol";
import { createAgent } from "../agents/create-agent.ts";
import { deleteAgent } from "../agents/delete-agent.ts";
import type { DeployContext } from "../agents/deploy-context.ts";
import { listAgents, readAgent } from "../agents/read-agents.ts";
import { updateAgent } from "../agents/update-agent.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

const wording = { invalidText: namingUnknown };

export function deployContext(ports: ApiPorts): DeployContext {
  const { store, clock, newId, failpoint, registries, quotasOf } = ports;
  const regions = ports.regions.map(({ code }) => code);
  return { store, clock, newId, failpoint, registries, quotasOf, regions };
}

export function handleAgents(ports: ApiPorts): Handled[] {
  const { store } = ports;
  const context = deployContext(ports);

  const update = async (
    organizationId: OrganizationId,
    { name, body, actor }: { name: string; body: UpdateAgent; actor: string },
  ): Promise<AgentRecord> => {
    const { body: input, warning: ignored } = translateSettings(body);
    const { agentId, region, warning } = await updateAgent(context, organizationId, { name, input, actor });
    ports.nudge(agentId);
    return withWarnings(await readAgent(store, organizationId, { name, region }), [ignored, warning]);
  };

  return handle(agentOperations, { create: wording, update: wording, updateService: wording })({
    list: async ({ organizationId, query }) =>
      listAgents(store, organizationId, {
        includeActiveDeployment: query.includeActiveDeployment === "true",
        includeRecord: query.includeRecord === "true",
        ...(query.region === undefined ? {} : { region: query.region }),
      }),
    create: async ({ organizationId, body, actor }) => {
      const { body: input, warning } = translateSettings(body);
      const { agentId, region } = await createAgent(context, organizationId, { input, actor });
      ports.nudge(agentId);
      const record = await readAgent(store, organizationId, { name: body.serviceName, region });
      return withWarnings(record, [warning]);
    },
    get: async ({ organizationId, params, query }) =>
      readAgent(store, organizationId, { name: params.serviceName, ...query }),
    getService: async ({ organizationId, params, query }) => ({
      body: await readAgent(store, organizationId, { name: params.serviceName, ...query }),
    }),
    update: async ({ organizationId, params, body, actor }) =>
      update(organizationId, { name: params.serviceName, body, actor }),
    updateService: async ({ organizationId, body, actor }) =>
      update(organizationId, { name: body.serviceName, body, actor }),
    delete: async ({ organizationId, params, query, actor }) => {
      ports.nudge(await deleteAgent(context, organizationId, { name: params.serviceName, ...query, actor }));
      return { status: "OK" };
    },
  });
}

function withWarnings(record: AgentRecord, warnings: (string | undefined)[]): AgentRecord {
  const said = warnings.filter((warning) => warning !== undefined);
  return said.length === 0 ? record : { ...record, warning: said.join(" ") };
}

/** Names the unknown setting in the sentence, because command lines show nothing else. */
function namingUnknown(problems: FieldProblem[]): string {
  const unknown = problems.filter(({ type }) => type === "unrecognized_keys").map(({ msg }) => msg);
  return ["Invalid parameters", ...unknown].join(". ");
}
