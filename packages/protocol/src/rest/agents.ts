import { z } from "zod";
import { foreignSettings } from "../compatibility/agent-settings.ts";
import { AgentProfile, agentLimits, VoiceFilter } from "./agent-settings.ts";
import { Deployment, DeploymentList, Rollback } from "./deployments.ts";
import { operations } from "./operation.ts";
import { restSettings } from "./setting-values.ts";
import { Done, QueryFlag, Time } from "./values.ts";

/** Names of agents that are to be made. */
export const AgentName = z
  .string()
  .max(agentLimits.nameCharacters)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])$/, "Must be two or more of a-z, 0-9 and inner hyphens")
  .refine((name) => !name.startsWith("start"), {
    // WebRTC clients replace the first `/start` of an address.
    error: "Must not begin with 'start', which WebRTC clients look for in addresses",
  });

/** `<repository>/<name>:<tag>`, optionally with a registry before and a digest behind. */
export const ImageReference = z
  .string()
  .max(512)
  .regex(
    /^(?:[a-zA-Z0-9.-]+(?::[0-9]{1,5})?\/)?[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}(?:@sha256:[0-9a-f]{64})?$/,
    "Must have the shape <repository>/<name>:<tag>",
  )
  .refine((reference) => reference.includes("/"), {
    error: "Must have the shape <repository>/<name>:<tag>",
  });

// `null` counts as left out, except for settings it clears. An unknown setting is refused, because it is probably
// misspelt.
const settings = {
  image: ImageReference.nullish(),
  buildId: z.uuid().nullish(),
  region: z.string().max(63).nullish(),
  nodeType: z.literal("arm").nullish(),
  ...restSettings,
  ...foreignSettings,
  forceRedeploy: z.boolean().nullish(),
};

export const CreateAgent = z.strictObject({ serviceName: AgentName, ...settings });
export type CreateAgent = z.infer<typeof CreateAgent>;

/**
 * Any subset; `serviceName` may be repeated but not changed, `region` says which one of several is meant. An empty secret
 * set unbinds it.
 */
export const UpdateAgent = z.strictObject({ serviceName: z.string().nullish(), ...settings });
export type UpdateAgent = z.infer<typeof UpdateAgent>;

/** The organisation-scoped update names the agent in its body. */
export const UpdateService = UpdateAgent.extend({ serviceName: z.string() });
export type UpdateService = z.infer<typeof UpdateService>;

export const RevisionHealth = z.object({
  ready: z.boolean(),
  state: z.enum(["running", "waiting", "terminated"]),
  restartCount: z.number().int(),
  replicasStarted: z.number().int(),
  reason: z.string().optional(),
  lastExitCode: z.number().int().optional(),
  lastTerminationReason: z.string().optional(),
  message: z.string().optional(),
});
export type RevisionHealth = z.infer<typeof RevisionHealth>;

export const RevisionInfo = z.object({
  deploymentID: z.uuid(),
  phase: z.enum(["Creating", "Validating", "Active", "Draining", "Failed"]),
  readyReplicas: z.number().int(),
  phaseStartedAt: Time,
  health: RevisionHealth.optional(),
  hasInfrastructureIssue: z.literal(true).optional(),
});
export type RevisionInfo = z.infer<typeof RevisionInfo>;

export const AgentCondition = z.object({
  type: z.enum(["Available", "Progressing", "Degraded"]),
  status: z.enum(["True", "False"]),
  reason: z.string().optional(),
  message: z.string().optional(),
});
export type AgentCondition = z.infer<typeof AgentCondition>;

export const AgentRecord = z.object({
  name: z.string(),
  region: z.string(),
  /** All in which there is an agent of this name, its own first. */
  regions: z.array(z.string()).optional(),
  ready: z.boolean(),
  available: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
  desiredDeploymentId: z.uuid(),
  activeDeploymentId: z.uuid(),
  reconciledDeploymentId: z.uuid().nullable(),
  activeDeploymentReady: z.boolean(),
  autoScaling: z.object({ minReplicas: z.number().int(), maxReplicas: z.number().int() }),
  activeSessionCount: z.number().int(),
  agentProfile: AgentProfile.nullable(),
  vendorViva: z.object({ audioFilter: VoiceFilter.nullable() }).nullable(),
  /** The same, as other tools spell it. */
  krispViva: z.object({ audioFilter: VoiceFilter.nullable() }).nullish(),
  deployment: Deployment.nullable(),
  currentRevision: RevisionInfo.nullish(),
  previousRevision: RevisionInfo.nullish(),
  errors: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
  conditions: z.array(AgentCondition).optional(),
  warning: z.string().optional(),
});
export type AgentRecord = z.infer<typeof AgentRecord>;

/** The organisation-scoped read wraps the record. */
export const WrappedAgentRecord = z.object({ body: AgentRecord });
export type WrappedAgentRecord = z.infer<typeof WrappedAgentRecord>;

export const AgentListItem = z.object({
  id: z.uuid(),
  name: z.string(),
  region: z.string(),
  desiredDeploymentId: z.uuid(),
  activeDeploymentId: z.uuid(),
  reconciledDeploymentId: z.uuid().nullable(),
  organizationId: z.string(),
  createdAt: Time,
  updatedAt: Time,
  deletedAt: Time.nullable(),
  deployment: Deployment.optional(),
  /** With `includeRecord`. */
  record: AgentRecord.optional(),
});
export type AgentListItem = z.infer<typeof AgentListItem>;

export const AgentList = z.object({ services: z.array(AgentListItem) });
export type AgentList = z.infer<typeof AgentList>;

/** Which of several agents of one name is meant. */
export const RegionQuery = z.object({ region: z.string().max(63).optional() });
export type RegionQuery = z.infer<typeof RegionQuery>;

export const AgentListQuery = RegionQuery.extend({
  includeActiveDeployment: QueryFlag.optional(),
  /** Each with the record that reading it alone gives. */
  includeRecord: QueryFlag.optional(),
});
export type AgentListQuery = z.infer<typeof AgentListQuery>;

export const agentOperations = operations("Agents", {
  list: {
    id: "listAgents",
    summary: "Agents of the organisation",
    method: "GET",
    path: "/agents",
    right: "view",
    query: AgentListQuery,
    answer: AgentList,
  },
  create: {
    id: "createAgent",
    summary: "Create an agent and roll out its first deployment",
    method: "POST",
    path: "/agents",
    right: "manage",
    body: CreateAgent,
    answer: AgentRecord,
    refusals: [404, 409],
  },
  get: {
    id: "getAgent",
    summary: "One agent: what is asked for, what is rolled out, how it is",
    method: "GET",
    path: "/agents/:serviceName",
    scoped: false,
    right: "view",
    query: RegionQuery,
    answer: AgentRecord,
  },
  getService: {
    id: "getService",
    summary: "The same, wrapped",
    method: "GET",
    path: "/services/:serviceName",
    scoped: "only",
    right: "view",
    query: RegionQuery,
    answer: WrappedAgentRecord,
  },
  update: {
    id: "updateAgent",
    summary: "Change settings; what is left out stays",
    method: "POST",
    path: "/agents/:serviceName",
    scoped: false,
    right: "manage",
    body: UpdateAgent,
    answer: AgentRecord,
    refusals: [409],
  },
  updateService: {
    id: "updateService",
    summary: "The same, with the agent named in the body",
    method: "PUT",
    path: "/services",
    scoped: "only",
    right: "manage",
    body: UpdateService,
    answer: AgentRecord,
    refusals: [409],
  },
  delete: {
    id: "deleteAgent",
    summary: "Refuse new sessions, then delete; sessions that run go on",
    method: "DELETE",
    path: "/agents/:serviceName",
    right: "manage",
    query: RegionQuery,
    answer: Done,
  },
});

export const deploymentOperations = operations("Deployments", {
  deployments: {
    id: "listDeployments",
    summary: "Deployments of an agent, newest first",
    method: "GET",
    path: "/agents/:serviceName/deployments",
    right: "view",
    query: RegionQuery,
    answer: DeploymentList,
  },
  rollback: {
    id: "rollBackAgent",
    summary: "Roll out again what an earlier deployment ran",
    method: "POST",
    path: "/agents/:serviceName/rollback",
    right: "manage",
    query: RegionQuery,
    body: Rollback,
    answer: AgentRecord,
    refusals: [409],
  },
});
