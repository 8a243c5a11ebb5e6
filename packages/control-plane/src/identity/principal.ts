import type { ApiKeyRow, MemberRow } from "@vocalhost/store/schema";

/** A row may only be reached with the scope of the organisation it belongs to. */
export type OrganizationId = string & { readonly brand: "OrganizationId" };

/** Who is asking, on behalf of which organisation. */
export type Principal = KeyPrincipal | UserPrincipal | SessionPrincipal;

export interface KeyPrincipal {
  kind: "key";
  keyId: string;
  keyKind: ApiKeyRow["kind"];
  organizationId: OrganizationId;
  /** Agents a public key may start; null: all. */
  agents: string[] | null;
  ratePerMinute: number | null;
  concurrency: number | null;
}

export interface UserPrincipal {
  kind: "user";
  userId: string;
  email: string;
  role: MemberRow["role"];
  organizationId: OrganizationId;
}

/** Somebody who started a session in the dashboard, for reaching that session only. */
export interface SessionPrincipal {
  kind: "session";
  sessionId: string;
  userId: string;
  organizationId: OrganizationId;
}

/** What an entrance wants: to look, to change, to make organisations, to start sessions, or to reach one that runs. */
export type Right = "view" | "manage" | "found" | "public" | "session";

/** What a caller brought. */
export interface Credentials {
  authorization: string | undefined;
  cookie: string | undefined;
  /** From an organisation-scoped path; checked against the credential, never trusted. */
  organizationName: string | undefined;
}

/** The one admission function's shape; `admission.ts` implements it. Throws `UNAUTHORIZED` and relatives. */
export type Admit = (credentials: Credentials, right: Right) => Promise<Principal>;

/** For audit rows: `key:{id}`, `user:{id}`. */
export function actorOf(principal: Principal): string {
  return principal.kind === "key" ? `key:${principal.keyId}` : `user:${principal.userId}`;
}
