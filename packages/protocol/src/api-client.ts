import { request, type ApiClientOptions } from "./api-request.ts";
import { agentProfileOperations } from "./rest/agent-profiles.ts";
import {
  agentOperations,
  deploymentOperations,
  type AgentRecord,
  type RegionQuery,
  type UpdateAgent,
} from "./rest/agents.ts";
import { buildOperations } from "./rest/builds.ts";
import { callOperation, methodsOf, type Answer, type Arguments } from "./rest/call-operation.ts";
import { keyOperations } from "./rest/keys.ts";
import { eventOperations, logOperations, type LogLine } from "./rest/logs.ts";
import { memberOperations } from "./rest/members.ts";
import type { Operation, Operations } from "./rest/operation.ts";
import { auditOperations, AuthConfig, organizationOperations } from "./rest/organizations.ts";
import { poolOperations } from "./rest/pool.ts";
import { propertyOperations } from "./rest/properties.ts";
import { dialOutOperations, publicStartOperations } from "./rest/public-start.ts";
import { regionOperations } from "./rest/regions.ts";
import { secretOperations } from "./rest/secrets.ts";
import { sessionOperations } from "./rest/sessions.ts";
import { usageOperations } from "./rest/usage.ts";
import type { DialoutRequest } from "./session-api.ts";

export { ApiError } from "./api-request.ts";
export type { ApiClientOptions } from "./api-request.ts";

/** One line of a live log, and where to go on after a lost connection. */
export interface LogEvent {
  id: string;
  line: LogLine;
}

export interface StartOptions {
  transport?: string;
  body?: unknown;
  enableDefaultIceServers?: boolean;
  region?: string;
  stayInRegion?: boolean;
  idempotencyKey?: string;
}

/** The answer of `createUpload`, and the archive. */
export interface UploadForm {
  uploadUrl: string;
  uploadFields: Record<string, string>;
  file: Blob;
}

export type ApiClient = ReturnType<typeof createApiClient>;

/**
 * A client for the hosted service, with a method for each operation. The methods written out here take their arguments in
 * another form. They throw `ApiError`, and repeat reads while the service asks to come back later.
 */
export function createApiClient(options: ApiClientOptions) {
  const { methods, call } = callsOf(options);
  return {
    ...methods(regionOperations),
    ...methods(agentProfileOperations),
    ...methods(organizationOperations),
    ...methods(auditOperations),
    ...methods(eventOperations),
    authConfig: () =>
      request(options, { method: "GET", path: "/auth/config", schema: AuthConfig, root: true }),
    usage: (month?: string) => call(usageOperations.usage, { month }),
    usageDays: (month?: string) => call(usageOperations.usageDays, { month }),
    usageCsv: (month?: string) => call(usageOperations.usageCsv, { month }),
    agents: agentMethods(options),
    sessions: sessionMethods(options),
    builds: buildMethods(options),
    secrets: methods(secretOperations),
    members: methods(memberOperations),
    properties: {
      ...methods(propertyOperations),
      patch: (body: { defaultRegion: string }) => call(propertyOperations.patch, body),
    },
    keys: {
      ...methods(keyOperations),
      rotate: (id: string, overlapSeconds = 0) => call(keyOperations.rotate, id, { overlapSeconds }),
    },
  };
}

function callsOf(options: ApiClientOptions) {
  return {
    methods: <T extends Operations>(records: T) => methodsOf(options, records),
    call: <O extends Operation>(operation: O, ...given: Arguments<O>): Answer<O> =>
      callOperation(options, operation, given),
  };
}

function agentMethods(options: ApiClientOptions) {
  const { methods, call } = callsOf(options);
  const isScoped = options.organization !== undefined;
  return {
    ...methods(agentOperations),
    ...methods(poolOperations),
    ...methods(deploymentOperations),
    ...methods(logOperations),
    /** Without a region: the agent in its home region. */
    get: async (name: string, where: RegionQuery = {}): Promise<AgentRecord> =>
      isScoped
        ? (await call(agentOperations.getService, name, where)).body
        : call(agentOperations.get, name, where),
    update: (name: string, changes: UpdateAgent) =>
      isScoped
        ? call(agentOperations.updateService, { ...changes, serviceName: name })
        : call(agentOperations.update, name, changes),
    rollback: (name: string, deploymentId: string, where: RegionQuery = {}) =>
      call(deploymentOperations.rollback, name, { deploymentId }, where),
  };
}

function sessionMethods(options: ApiClientOptions) {
  const repeatable = (key: string | undefined): Record<string, string> =>
    key === undefined ? {} : { "idempotency-key": key };
  return {
    ...methodsOf(options, sessionOperations),
    /** Needs a public key. */
    start: (name: string, { idempotencyKey, ...body }: StartOptions = {}) =>
      callOperation(options, publicStartOperations.start, [name, body], {
        headers: repeatable(idempotencyKey),
        unscoped: true,
      }),
    /** Calls a phone number; needs a private key. Requests with the same idempotency key make one call. */
    dialOut: (name: string, { idempotencyKey, ...body }: DialoutRequest & { idempotencyKey?: string }) =>
      callOperation(options, dialOutOperations.dialOut, [name, body], {
        headers: repeatable(idempotencyKey),
      }),
  };
}

function buildMethods(options: ApiClientOptions) {
  const { methods, call } = callsOf(options);
  return {
    ...methods(buildOperations),
    createUpload: (region?: string) => call(buildOperations.createUpload, { region }),
    upload: async ({ uploadUrl, uploadFields, file }: UploadForm): Promise<void> => {
      const form = new FormData();
      for (const [name, value] of Object.entries(uploadFields)) form.append(name, value);
      form.append("file", file, "context.tar.gz");
      await request(options, { method: "POST", path: uploadUrl, form });
    },
  };
}
