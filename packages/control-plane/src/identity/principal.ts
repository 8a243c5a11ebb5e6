import type { ApiKeyRow, MemberRow } from "@vocalhost/store/schema";

/** Queries reach a row only with the id of its organisation. */
export type OrganizationId = string & { readonly brand: "OrganizationId" };

/** An admitted caller and its organisation. */
export type Principal = KeyPrincipal | UserPrincipal | SessionPrincipal;

export interface KeyPrincipal {
  kind: "key";
  keyId: string;
  keyKind: ApiKeyRow["kind"];
  organizationId: OrganizationId;
  /** Names of the agents a public key may start; null: all. */
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

/** A person who started a session in the dashboard, limited to that session. */
export interface SessionPrincipal {
  kind: "session";
  sessionId: string;
  userId: string;
  organizationId: OrganizationId;
}

/** The right an operation needs: read, change, found organisations, start sessions, or reach a running one. */
export type Right = "view" | "manage" | "found" | "public" | "session";

/** The credentials of a request. */
export interface Credentials {
  authorization: string | undefined;
  cookie: string | undefined;
  /** From an organisation-scoped path; must match the credential. */
  organizationName: string | undefined;
}

/** The type of the one admission function, implemented in `admission.ts`. Throws `UNAUTHORIZED` or a related error. */
export type Admit = (credentials: Credentials, right: Right) => Promise<Principal>;

/** Returns the actor for audit rows: `key:{id}` or `user:{id}`. */
export function actorOf(principal: Principal): string {
  return principal.kind === "key" ? `key:${principal.keyId}` : `user:${principal.userId}`;
}
