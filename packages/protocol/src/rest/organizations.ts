import { z } from "zod";
import { operations } from "./operation.ts";
import { pageQuery, Time, UnixSeconds } from "./values.ts";

export const OrganizationList = z.object({
  organizations: z.array(
    z.object({
      name: z.string(),
      verboseName: z.string(),
      /** Role of the person who asks; a key has none. */
      role: z.enum(["owner", "admin", "viewer"]).optional(),
    }),
  ),
});
export type OrganizationList = z.infer<typeof OrganizationList>;

export const CreateOrganization = z.object({
  /** Part of socket addresses; it cannot be changed. */
  name: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,52}[a-z0-9])$/, "Must be 2 to 54 lower-case letters, digits and hyphens"),
  /** The display name. @default the name */
  verboseName: z.string().trim().min(1).max(100).optional(),
});
export type CreateOrganization = z.infer<typeof CreateOrganization>;

export const OrganizationCreated = z.object({ name: z.string(), verboseName: z.string() });
export type OrganizationCreated = z.infer<typeof OrganizationCreated>;

const Quota = z.object({ used: z.number().int(), limit: z.number().int() });

/** The organisation's use of its quotas. */
export const QuotaList = z.object({
  agents: Quota,
  instances: Quota,
  /** Waiting or running. */
  builds: Quota,
  /** Disk space of uploads and builds. */
  diskMib: Quota,
});
export type QuotaList = z.infer<typeof QuotaList>;

/** The caller's account. A key is shown as `key:{id}` without an address. */
export const UserAnswer = z.object({
  user: z.object({ userId: z.string(), emails: z.array(z.object({ emailAddress: z.string() })) }),
});
export type UserAnswer = z.infer<typeof UserAnswer>;

export const AuditQuery = pageQuery({ limit: 50, maxLimit: 500 }).extend({
  /** `agent-created`, `key-revoked`, … */
  action: z.string().max(64).optional(),
  /** `key:{id}`, `user:{id}` or `system`. */
  actor: z.string().max(128).optional(),
  /** Any part of the target or of the details, such as an agent's name. */
  text: z.string().max(128).optional(),
  startTime: UnixSeconds.optional(),
  endTime: UnixSeconds.optional(),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

export const AuditEntry = z.object({
  id: z.string(),
  at: Time,
  /** `key:{id}`, `user:{id}` or `system`. */
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  details: z.unknown(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditList = z.object({ total: z.number().int(), entries: z.array(AuditEntry) });
export type AuditList = z.infer<typeof AuditList>;

/** Where the command line signs in, and how people can in a browser. */
export const AuthConfig = z.object({
  issuer: z.string(),
  client_id: z.string(),
  scopes: z.string(),
  methods: z.array(z.enum(["password", "oidc"])).optional(),
});
export type AuthConfig = z.infer<typeof AuthConfig>;

export const organizationOperations = operations("Organisation", {
  organizations: {
    id: "listOrganizations",
    summary: "Organisations the caller belongs to",
    method: "GET",
    path: "/organizations",
    scoped: false,
    right: "view",
    answer: OrganizationList,
  },
  createOrganization: {
    id: "createOrganization",
    summary: "Make another organisation, and its owner whoever asks; for owners of the first one",
    method: "POST",
    path: "/organizations",
    scoped: false,
    right: "found",
    body: CreateOrganization,
    answer: OrganizationCreated,
    statuses: [201],
    refusals: [409],
  },
  user: {
    id: "getUser",
    summary: "Who is asking",
    method: "GET",
    path: "/users",
    scoped: false,
    right: "view",
    answer: UserAnswer,
  },
  quotas: {
    id: "getQuotas",
    summary: "What the organisation has of what it may have",
    method: "GET",
    path: "/quotas",
    right: "view",
    answer: QuotaList,
  },
});

export const auditOperations = operations("Organisation", {
  audit: {
    id: "listAudit",
    summary: "Who changed what, newest first",
    method: "GET",
    path: "/audit",
    right: "manage",
    query: AuditQuery,
    answer: AuditList,
  },
});
