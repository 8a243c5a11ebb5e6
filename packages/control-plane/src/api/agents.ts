import {
  AgentList,
  AgentListQuery,
  AgentRecord,
  CreateAgent,
  Done,
  RegionQuery,
  translateSettings,
  UpdateAgent,
  UpdateService,
  WrappedAgentRecord,
  type FieldProblem,
} from "@vocalhost/protocol";
import { z } from "zod";
import { createAgent } from "../agents/create-agent.ts";
import { deleteAgent } from "../agents/delete-agent.ts";
import type { DeployContext } from "../agents/deploy-context.ts";
import { listAgents, readAgent } from "../agents/read-agents.ts";
import { updateAgent } from "../agents/update-agent.ts";
import type { OrganizationId } from "../identity/principal.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";

export const AgentParams = z.object({ serviceName: z.string() });

const tag = "Agents";
const wording = { invalidText: namingUnknown };

export function deployContext(ports: ApiPorts): DeployContext {
  const { store, clock, newId, failpoint, registries, quotasOf } = ports;
  const regions = ports.regions.map(({ code }) => code);
  return { store, clock, newId, failpoint, registries, quotasOf, regions };
}

export function agentOperations(ports: ApiPorts): Operation[] {
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

  return [
    defineOperation({
      id: "listAgents",
      tag,
      summary: "Agents of the organisation",
      method: "GET",
      path: "/agents",
      alias: "/services",
      right: "view",
      query: AgentListQuery,
      answers: { 200: AgentList },
      run: async ({ organizationId, query }) =>
        listAgents(store, organizationId, {
          includeActiveDeployment: query.includeActiveDeployment === "true",
          includeRecord: query.includeRecord === "true",
          ...(query.region === undefined ? {} : { region: query.region }),
        }),
    }),
    defineOperation({
      id: "createAgent",
      tag,
      summary: "Create an agent and roll out its first deployment",
      method: "POST",
      path: "/agents",
      alias: "/services",
      right: "manage",
      body: CreateAgent,
      wording,
      answers: { 200: AgentRecord },
      refusals: [404, 409],
      run: async ({ organizationId, body, actor }) => {
        const { body: input, warning } = translateSettings(body);
        const { agentId, region } = await createAgent(context, organizationId, { input, actor });
        ports.nudge(agentId);
        const record = await readAgent(store, organizationId, { name: body.serviceName, region });
        return withWarnings(record, [warning]);
      },
    }),
    defineOperation({
      id: "getAgent",
      tag,
      summary: "One agent: what is asked for, what is rolled out, how it is",
      method: "GET",
      path: "/agents/:serviceName",
      alias: null,
      right: "view",
      params: AgentParams,
      query: RegionQuery,
      answers: { 200: AgentRecord },
      run: async ({ organizationId, params, query }) =>
        readAgent(store, organizationId, { name: params.serviceName, ...query }),
    }),
    defineOperation({
      id: "getService",
      tag,
      summary: "The same, wrapped",
      method: "GET",
      path: "/services/:serviceName",
      aliasOnly: true,
      right: "view",
      params: AgentParams,
      query: RegionQuery,
      answers: { 200: WrappedAgentRecord },
      run: async ({ organizationId, params, query }) => ({
        body: await readAgent(store, organizationId, { name: params.serviceName, ...query }),
      }),
    }),
    defineOperation({
      id: "updateAgent",
      tag,
      summary: "Change settings; what is left out stays",
      method: "POST",
      path: "/agents/:serviceName",
      alias: null,
      right: "manage",
      params: AgentParams,
      body: UpdateAgent,
      wording,
      answers: { 200: AgentRecord },
      refusals: [409],
      run: async ({ organizationId, params, body, actor }) =>
        update(organizationId, { name: params.serviceName, body, actor }),
    }),
    defineOperation({
      id: "updateService",
      tag,
      summary: "The same, with the agent named in the body",
      method: "PUT",
      path: "/services",
      aliasOnly: true,
      right: "manage",
      body: UpdateService,
      wording,
      answers: { 200: AgentRecord },
      refusals: [409],
      run: async ({ organizationId, body, actor }) =>
        update(organizationId, { name: body.serviceName, body, actor }),
    }),
    defineOperation({
      id: "deleteAgent",
      tag,
      summary: "Refuse new sessions, then delete; sessions that run go on",
      method: "DELETE",
      path: "/agents/:serviceName",
      alias: "/services/:serviceName",
      right: "manage",
      params: AgentParams,
      query: RegionQuery,
      answers: { 200: Done },
      run: async ({ organizationId, params, query, actor }) => {
        ports.nudge(
          await deleteAgent(context, organizationId, { name: params.serviceName, ...query, actor }),
        );
        return { status: "OK" };
      },
    }),
  ];
}

function withWarnings(record: AgentRecord, warnings: (string | undefined)[]): AgentRecord {
  const said = warnings.filter((warning) => warning !== undefined);
  return said.length === 0 ? record : { ...record, warning: said.join(" ") };
}

/** Command lines show the sentence only, so a setting that does not exist is named in it. */
function namingUnknown(problems: FieldProblem[]): string {
  const unknown = problems.filter(({ type }) => type === "unrecognized_keys").map(({ msg }) => msg);
  return ["Invalid parameters", ...unknown].join(". ");
}
