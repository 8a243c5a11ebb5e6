import type { z } from "zod";
import { request, stream, type ApiClientOptions, type Query } from "./api-request.ts";
import { AgentProfileList } from "./rest/agent-profiles.ts";
import {
  AgentList,
  AgentRecord,
  WrappedAgentRecord,
  type CreateAgent,
  type RegionQuery,
  type UpdateAgent,
} from "./rest/agents.ts";
import {
  BuildAnswer,
  BuildList,
  BuildLogs,
  BuildStarted,
  Upload,
  type BuildListQuery,
} from "./rest/builds.ts";
import { DeploymentList } from "./rest/deployments.ts";
import { ChangeEvent } from "./rest/events.ts";
import { KeyCreated, KeyList, type CreateKey } from "./rest/keys.ts";
import { LogLine, LogList, type LogQuery, type LogTailQuery } from "./rest/logs.ts";
import { MemberInvited, MemberList, type ChangeMember, type InviteMember } from "./rest/members.ts";
import {
  AuditList,
  AuthConfig,
  OrganizationCreated,
  OrganizationList,
  QuotaList,
  UserAnswer,
  type AuditQuery,
  type CreateOrganization,
} from "./rest/organizations.ts";
import { Pool } from "./rest/pool.ts";
import { Properties, PropertiesSchema } from "./rest/properties.ts";
import { Dialled } from "./calls/dial.ts";
import { Started, type DialoutRequest } from "./session-api.ts";
import { MediaProbe } from "./rest/media.ts";
import { RegionList } from "./rest/regions.ts";
import { Isolation } from "./rest/isolation.ts";
import { VoiceFilterSupport } from "./rest/voice-filter.ts";
import { SecretSet, SecretSetList, SecretsStored, type PutSecrets } from "./rest/secrets.ts";
import { SessionDetails, SessionList, SessionStopped, type SessionListQuery } from "./rest/sessions.ts";
import { Usage, UsageDays } from "./rest/usage.ts";
import { Done } from "./rest/values.ts";

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

/** What `uploads.create` gave, and the archive. */
export interface UploadForm {
  uploadUrl: string;
  uploadFields: Record<string, string>;
  file: Blob;
}

export type ApiClient = ReturnType<typeof createApiClient>;

/** Speaks with a hosted service. Throws `ApiError`; reads are repeated while the service says "later". */
export function createApiClient(options: ApiClientOptions) {
  const get = <S extends z.ZodType>(schema: S, path: string, query?: Query) =>
    request(options, { method: "GET", path, query, schema });
  const send = <S extends z.ZodType>(schema: S, method: string, path: string, body?: unknown) =>
    request(options, { method, path, body, schema });
  const agentPath = (name: string, rest = "") => `/agents/${encodeURIComponent(name)}${rest}`;
  const isScoped = options.organization !== undefined;
  const setPath = (name: string) => `/secrets/${encodeURIComponent(name)}`;

  return {
    regions: () => get(RegionList, "/regions"),
    agentProfiles: () => get(AgentProfileList, "/agent-profiles"),
    isolation: () => get(Isolation, "/isolation"),
    voiceFilter: () => get(VoiceFilterSupport, "/voice-filter"),
    /** Where somebody answers for a few seconds to whoever can reach it. */
    probeMedia: () => send(MediaProbe, "POST", "/media/probe"),
    organizations: () => get(OrganizationList, "/organizations"),
    createOrganization: (body: CreateOrganization) =>
      send(OrganizationCreated, "POST", "/organizations", body),
    quotas: () => get(QuotaList, "/quotas"),
    user: () => get(UserAnswer, "/users"),
    audit: (query: Partial<AuditQuery> = {}) => get(AuditList, "/audit", query),
    authConfig: () =>
      request(options, { method: "GET", path: "/auth/config", schema: AuthConfig, root: true }),

    /** What changes, as it does. Ends with the signal, or when the service closes the stream. */
    events: ({ signal }: { signal?: AbortSignal } = {}): AsyncGenerator<{ id: string; line: ChangeEvent }> =>
      stream(options, { schema: ChangeEvent, path: "/events", query: {}, signal }),

    agents: {
      list: (query: { includeActiveDeployment?: boolean; includeRecord?: boolean; region?: string } = {}) =>
        get(AgentList, "/agents", query),
      /** Of several of that name the one in the region, or in its own. */
      get: async (name: string, where: RegionQuery = {}): Promise<AgentRecord> =>
        isScoped
          ? (await get(WrappedAgentRecord, agentPath(name), where)).body
          : get(AgentRecord, agentPath(name), where),
      create: (agent: CreateAgent) => send(AgentRecord, "POST", "/agents", agent),
      update: (name: string, changes: UpdateAgent) =>
        isScoped
          ? send(AgentRecord, "PUT", "/agents", { ...changes, serviceName: name })
          : send(AgentRecord, "POST", agentPath(name), changes),
      delete: (name: string, where: RegionQuery = {}) =>
        request(options, { method: "DELETE", path: agentPath(name), query: where, schema: Done }),
      pool: (name: string, where: RegionQuery = {}) => get(Pool, agentPath(name, "/pool"), where),
      deployments: (name: string, where: RegionQuery = {}) =>
        get(DeploymentList, agentPath(name, "/deployments"), where),
      rollback: (name: string, deploymentId: string, where: RegionQuery = {}) =>
        request(options, {
          method: "POST",
          path: agentPath(name, "/rollback"),
          query: where,
          body: { deploymentId },
          schema: AgentRecord,
        }),
      logs: (name: string, query: Partial<LogQuery> = {}) => get(LogList, agentPath(name, "/logs"), query),
      /** Ends with the signal, or when the service closes the stream. */
      tailLogs: (
        name: string,
        query: LogTailQuery & { after?: string; signal?: AbortSignal; opened?: () => void } = {},
      ): AsyncGenerator<LogEvent> => {
        const { after, signal, opened, ...filters } = query;
        return stream(options, {
          schema: LogLine,
          path: agentPath(name, "/logs/tail"),
          query: filters,
          after,
          signal,
          opened,
        });
      },
    },

    sessions: {
      list: (name: string, query: Partial<SessionListQuery> = {}) =>
        get(SessionList, agentPath(name, "/sessions"), query),
      get: (name: string, sessionId: string) =>
        get(SessionDetails, agentPath(name, `/sessions/${encodeURIComponent(sessionId)}`)),
      stop: (name: string, sessionId: string) =>
        send(SessionStopped, "DELETE", agentPath(name, `/sessions/${encodeURIComponent(sessionId)}`)),
      /** With a public key. */
      start: (name: string, { idempotencyKey, ...input }: StartOptions = {}) =>
        request(options, {
          method: "POST",
          path: `/public/${encodeURIComponent(name)}/start`,
          body: input,
          schema: Started,
          unscoped: true,
          headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
        }),
      /** Calls somebody, with a private key. The same idempotency key calls them once. */
      dialOut: (name: string, { idempotencyKey, ...input }: DialoutRequest & { idempotencyKey?: string }) =>
        request(options, {
          method: "POST",
          path: `/agents/${encodeURIComponent(name)}/dialout`,
          body: input,
          schema: Dialled,
          headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey },
        }),
    },

    secrets: {
      list: (query: { region?: string } = {}) => get(SecretSetList, "/secrets", query),
      get: (name: string) => get(SecretSet, setPath(name)),
      put: (name: string, body: PutSecrets) => send(SecretsStored, "PUT", setPath(name), body),
      delete: (name: string) => send(Done, "DELETE", setPath(name)),
      deleteKey: (name: string, key: string) =>
        send(Done, "DELETE", `${setPath(name)}/${encodeURIComponent(key)}`),
    },

    properties: {
      get: () => get(Properties, "/properties"),
      schema: () => get(PropertiesSchema, "/properties/schema"),
      patch: (body: { defaultRegion: string }) => send(PropertiesSchema, "PATCH", "/properties", body),
    },

    builds: {
      createUpload: (region?: string) => send(Upload, "POST", "/builds/upload-url", { region }),
      upload: async ({ uploadUrl, uploadFields, file }: UploadForm): Promise<void> => {
        const form = new FormData();
        for (const [name, value] of Object.entries(uploadFields)) form.append(name, value);
        form.append("file", file, "context.tar.gz");
        await request(options, { method: "POST", path: uploadUrl, form });
      },
      create: (body: { uploadId: string; region?: string; dockerfilePath?: string }) =>
        send(BuildStarted, "POST", "/builds", body),
      get: (buildId: string) => get(BuildAnswer, `/builds/${encodeURIComponent(buildId)}`),
      logs: (buildId: string, query: { limit?: number; nextToken?: string } = {}) =>
        get(BuildLogs, `/builds/${encodeURIComponent(buildId)}/logs`, query),
      list: (query: Partial<BuildListQuery> = {}) => get(BuildList, "/builds", query),
    },

    keys: {
      list: () => get(KeyList, "/keys"),
      create: (body: CreateKey) => send(KeyCreated, "POST", "/keys", body),
      rotate: (id: string, overlapSeconds = 0) =>
        send(KeyCreated, "POST", `/keys/${encodeURIComponent(id)}/rotate`, { overlapSeconds }),
      revoke: (id: string) => send(Done, "DELETE", `/keys/${encodeURIComponent(id)}`),
    },

    members: {
      list: () => get(MemberList, "/members"),
      invite: (body: InviteMember) => send(MemberInvited, "POST", "/members/invitations", body),
      cancelInvitation: (id: string) =>
        send(Done, "DELETE", `/members/invitations/${encodeURIComponent(id)}`),
      change: (userId: string, body: ChangeMember) =>
        send(Done, "PATCH", `/members/${encodeURIComponent(userId)}`, body),
      remove: (userId: string) => send(Done, "DELETE", `/members/${encodeURIComponent(userId)}`),
    },

    usage: (month?: string) => get(Usage, "/usage", { month }),
    usageDays: (month?: string) => get(UsageDays, "/usage/days", { month }),
    usageCsv: (month?: string) =>
      request(options, { method: "GET", path: "/usage.csv", query: { month }, text: true }),
  };
}
