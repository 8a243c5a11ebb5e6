// The one admission function, used by REST, starts, the session proxy, upgrades and organisation-scoped aliases.
import { AppError, withoutForeignPrefix } from "@vocalhost/protocol";
import type { Clock } from "@vocalhost/base/clock";
import type { MemberRow } from "@vocalhost/store/schema";
import type { Store } from "@vocalhost/store/store";
import { isUsable, parseAgents } from "./api-keys.ts";
import type { KeyCache } from "./key-cache.ts";
import type { KeyKind } from "./key-format.ts";
import { looksLikeKey, parseKey } from "./key-format.ts";
import type {
  Admit,
  Credentials,
  KeyPrincipal,
  OrganizationId,
  Principal,
  Right,
  SessionPrincipal,
  UserPrincipal,
} from "./principal.ts";
import { looksLikeSessionToken, readSessionToken, type SessionTokenSigner } from "./session-tokens.ts";

export interface AdmissionOptions {
  store: Store;
  clock: Clock;
  keyCache: KeyCache;
  people: SignedInPeople;
  /** Verifies tokens that each reach one session. */
  signer: SessionTokenSigner;
}

/** Resolves the person behind a bearer token or a cookie of the dashboard; implemented in `people.ts`. */
export interface SignedInPeople {
  sessionOf(headers: Headers): Promise<SignedInUser | undefined>;
}

export interface SignedInUser {
  userId: string;
  email: string;
}

const rightsOfKeys = {
  private: ["view", "manage"],
  public: ["public", "session"],
} as const satisfies Record<KeyKind, Right[]>;

const rightsOfRoles = {
  owner: ["view", "manage", "found", "public", "session"],
  admin: ["view", "manage", "public", "session"],
  viewer: ["view"],
} as const satisfies Record<MemberRow["role"], Right[]>;

/** Returns whether an admitted caller also has another right. */
export function hasRight(principal: Principal, right: Right): boolean {
  if (principal.kind === "session") return right === "session";
  const rights = principal.kind === "key" ? rightsOfKeys[principal.keyKind] : rightsOfRoles[principal.role];
  return includes(rights, right);
}

export function createAdmission(options: AdmissionOptions): Admit {
  return async (credentials, right) => {
    const { authorization, cookie } = credentials;
    if (authorization !== undefined) {
      const token = withoutForeignPrefix(bearerToken(authorization));
      if (looksLikeKey(token)) return admitKey(options, { token, credentials, right });
      if (looksLikeSessionToken(token)) return admitSession(options, { token, credentials, right });
      return admitUser(options, {
        headers: new Headers({ authorization: `Bearer ${token}` }),
        credentials,
        right,
      });
    }
    const user = cookie === undefined ? undefined : { headers: new Headers({ cookie }), credentials, right };
    if (right !== "public" && right !== "session") return admitUser(options, user ?? unauthorized());
    // Browsers send cookies unasked, also those of other services on this host. Without one of ours, the request has
    // no credential.
    const principal = user && (await admitUser(options, user).catch(onlyIfSignedIn));
    if (!principal) throw new AppError("AGENT-1002");
    return principal;
  };
}

interface TokenRequest {
  token: string;
  credentials: Credentials;
  right: Right;
}

async function admitKey(options: AdmissionOptions, request: TokenRequest): Promise<KeyPrincipal> {
  const { credentials, right } = request;
  const parsed = parseKey(request.token) ?? unauthorized();
  const row = (await options.keyCache.find(parsed.sha256)) ?? unauthorized();
  if (!isUsable(row, options.clock.nowMs())) unauthorized();
  if (!includes(rightsOfKeys[row.kind], right)) unauthorized();
  await requireOwnName(options.store, {
    organizationId: row.organizationId,
    name: credentials.organizationName,
  });
  return {
    kind: "key",
    keyId: row.id,
    keyKind: row.kind,
    organizationId: row.organizationId as OrganizationId,
    agents: parseAgents(row),
    ratePerMinute: row.ratePerMinute,
    concurrency: row.concurrency,
  };
}

/** Admits to one session, as long as the person who started it may reach sessions. */
async function admitSession(options: AdmissionOptions, request: TokenRequest): Promise<SessionPrincipal> {
  const { store, clock, signer } = options;
  if (request.right !== "session" || request.credentials.organizationName !== undefined) unauthorized();
  const token = readSessionToken(signer, request.token, clock.nowMs()) ?? unauthorized();
  const { sessionId, userId, organizationId } = token;
  const member = await store.db
    .selectFrom("members")
    .select("role")
    .where("organizationId", "=", organizationId)
    .where("userId", "=", userId)
    .executeTakeFirst();
  if (!member || !includes(rightsOfRoles[member.role], "session")) unauthorized();
  return { kind: "session", sessionId, userId, organizationId: organizationId as OrganizationId };
}

interface UserRequest {
  headers: Headers;
  credentials: Credentials;
  right: Right;
}

async function admitUser(options: AdmissionOptions, request: UserRequest): Promise<UserPrincipal> {
  const user = (await options.people.sessionOf(request.headers)) ?? unauthorized();
  const memberships = await options.store.db
    .selectFrom("members")
    .innerJoin("organizations", "organizations.id", "members.organizationId")
    .select(["members.organizationId", "members.role", "organizations.name"])
    .where("members.userId", "=", user.userId)
    .orderBy("members.createdAt")
    .orderBy("members.organizationId")
    .execute();
  const { organizationId, role } = choose(memberships, request);
  if (!includes(rightsOfRoles[role], request.right)) throw new AppError("ACCESS_DENIED");
  return { kind: "user", ...user, role, organizationId: organizationId as OrganizationId };
}

interface Membership {
  organizationId: string;
  role: MemberRow["role"];
  name: string;
}

function choose(memberships: Membership[], { credentials, right }: UserRequest): Membership {
  const name = credentials.organizationName;
  if (name !== undefined) {
    return memberships.find((membership) => membership.name === name) ?? organizationNotFound();
  }
  const [first, second] = memberships;
  if (!first) throw new AppError("ACCESS_DENIED", { message: "You do not belong to an organisation" });
  // This right concerns the service, not one organisation.
  if (right === "found") return memberships.find(({ role }) => role === "owner") ?? first;
  // Reading the oldest organisation by default is harmless; a change could hit the wrong one.
  if (second && right !== "view") {
    throw new AppError("GENERIC_BAD_REQUEST", {
      message: "You belong to several organisations: name one in the address",
    });
  }
  return first;
}

async function requireOwnName(
  store: Store,
  { organizationId, name }: { organizationId: string; name: string | undefined },
): Promise<void> {
  if (name === undefined) return;
  const row = await store.db
    .selectFrom("organizations")
    .select("id")
    .where("id", "=", organizationId)
    .where("name", "=", name)
    .executeTakeFirst();
  if (!row) organizationNotFound();
}

function bearerToken(authorization: string): string {
  return /^bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1] ?? unauthorized();
}

function includes(rights: readonly Right[], right: Right): boolean {
  return rights.includes(right);
}

function onlyIfSignedIn(error: unknown): undefined {
  if (error instanceof AppError && error.code === "UNAUTHORIZED") return undefined;
  throw error;
}

function unauthorized(): never {
  throw new AppError("UNAUTHORIZED");
}

function organizationNotFound(): never {
  throw new AppError("NOT_FOUND", { message: "Organization not found" });
}
