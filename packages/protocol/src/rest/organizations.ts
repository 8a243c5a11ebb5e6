import { z } from "zod";
import { pageQuery, Time } from "./values.ts";

export const OrganizationList = z.object({
  organizations: z.array(z.object({ name: z.string(), verboseName: z.string() })),
});
export type OrganizationList = z.infer<typeof OrganizationList>;

/** Who is asking. A key is shown as `key:{id}` without an address. */
export const UserAnswer = z.object({
  user: z.object({ userId: z.string(), emails: z.array(z.object({ emailAddress: z.string() })) }),
});
export type UserAnswer = z.infer<typeof UserAnswer>;

export const AuditQuery = pageQuery({ limit: 50, maxLimit: 500 });
export type AuditQuery = z.infer<typeof AuditQuery>;

export const AuditList = z.object({
  total: z.number().int(),
  entries: z.array(
    z.object({
      id: z.string(),
      at: Time,
      /** `key:{id}`, `user:{id}` or `system`. */
      actor: z.string(),
      action: z.string(),
      target: z.string(),
      details: z.unknown(),
    }),
  ),
});
export type AuditList = z.infer<typeof AuditList>;

/** Where the command line signs in. */
export const AuthConfig = z.object({ issuer: z.string(), client_id: z.string(), scopes: z.string() });
export type AuthConfig = z.infer<typeof AuthConfig>;
