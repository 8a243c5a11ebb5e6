import { AppError } from "@vocalhost/protocol";
import type { Clock } from "@vocalhost/base/clock";
import type { Log } from "@vocalhost/base/log";
import type { Store } from "@vocalhost/store/store";
import type { SignedInPeople, SignedInUser } from "./admission.ts";
import { writeAudit } from "./audit.ts";
import { loadAuthLibrary } from "./auth-library.ts";
import type { AuthLibrary, OidcProvider } from "./auth-library.ts";
import { createAuthHandler } from "./auth-handler.ts";
import { deleteLink, forgetExpiredLinks, insertLink, linkId, listLinks, takeLinks } from "./links.ts";
import { addMember } from "./members.ts";
import type { Role } from "./members.ts";
import type { OrganizationId } from "./principal.ts";
import { redeemLink } from "./redeem-link.ts";
import type { Redemption } from "./redeem-link.ts";
import { createSignInLimits } from "./sign-in-limits.ts";

const LINK_MS = 24 * 3_600_000;
const INVITATION_MS = 7 * 24 * 3_600_000;

export interface PeopleOptions {
  store: Store;
  clock: Clock;
  log: Log;
  /** The address people open in a browser: `https://host`. */
  baseUrl: string;
  /** Other origins that serve the dashboard. */
  otherOrigins?: readonly string[];
  /** Signs cookies and tokens; at least 32 characters. */
  secret: string;
  oidc?: OidcProvider | undefined;
}

/** Accounts, sign-in and invitations. */
export interface People extends SignedInPeople {
  /** Handles everything under `/auth/`. */
  handler(request: Request): Promise<Response>;
  sessionOf(headers: Headers): Promise<SignedInUser | undefined>;
  /** Resolves when sign-in works. Other methods wait for it. */
  ready(): Promise<void>;
  /**
   * Returns the token of a link that makes its holder an owner. It works once, for 24 h; earlier ones stop working.
   */
  createOwnerLink(organizationId: OrganizationId): Promise<string>;
  /** Returns the token of a link for one address. It works once, for 7 days. */
  invite(organizationId: OrganizationId, invitation: Invitation): Promise<Invited>;
  /** Returns the invitations that can still be accepted, the newest last. */
  invitationsOf(organizationId: OrganizationId): Promise<OpenInvitation[]>;
  cancelInvitation(organizationId: OrganizationId, which: { id: string; actor: string }): Promise<void>;
  redeemLink(redemption: Redemption): Promise<SignedInUser>;
  userOf(userId: string): Promise<SignedInUser | undefined>;
  /** Ends all of a person's sign-ins. */
  endSessions(userId: string): Promise<void>;
  /** Removes sign-ins, links and codes that can no longer be used; returns how many. */
  forgetExpired(): Promise<number>;
}

export interface Invitation {
  email: string;
  role: Role;
  actor: string;
}

export interface Invited {
  id: string;
  token: string;
  expiresAt: number;
}

export interface OpenInvitation {
  id: string;
  email: string;
  role: Role;
  expiresAt: number;
}

export function openPeople(options: PeopleOptions): People {
  const { store, clock } = options;
  if (options.secret.length < 32) throw new Error("The secret for sign-ins needs at least 32 characters");
  const baseUrl = new URL(options.baseUrl).origin;
  const ownOrigins = [baseUrl, ...(options.otherOrigins ?? [])];
  const load = once(() =>
    loadAuthLibrary({
      store,
      baseUrl,
      ownOrigins,
      secret: options.secret,
      oidc: options.oidc,
      log: options.log,
      onProviderSignIn: (user) => acceptInvitations({ store, clock }, user),
    }),
  );
  const redeem = async (redemption: Redemption) =>
    redeemLink({ store, clock, library: await load() }, redemption);

  return {
    handler: createAuthHandler({
      ...{ load, redeem, ownOrigins, secret: options.secret },
      limits: createSignInLimits(clock),
    }),
    ready: async () => void (await load()),
    sessionOf: async (headers) => (await load()).sessionOf(headers),
    redeemLink: redeem,
    userOf: async (userId) => (await load()).findUserById(userId),
    endSessions: async (userId) => (await load()).endSessions(userId),
    async forgetExpired() {
      const links = await forgetExpiredLinks(store.db, clock.nowMs());
      return links + (await (await load()).forgetExpired());
    },

    createOwnerLink(organizationId) {
      const nowMs = clock.nowMs();
      const expiresAt = nowMs + LINK_MS;
      const link = { organizationId, role: "owner", email: null, invitedBy: "system", expiresAt } as const;
      return store.transaction(async (tx) => {
        await takeLinks(tx, nowMs, (each) => each.organizationId === organizationId && each.email === null);
        return insertLink(tx, link);
      });
    },

    async invite(organizationId, { email: written, role, actor }) {
      const email = toEmail(written);
      const nowMs = clock.nowMs();
      return store.transaction(async (tx) => {
        const link = { organizationId, role, email, invitedBy: actor, expiresAt: nowMs + INVITATION_MS };
        const token = await insertLink(tx, link);
        const entry = { organizationId, at: nowMs, actor, action: "member-invited" };
        await writeAudit(tx, { ...entry, target: `email:${email}`, details: { role } });
        return { id: linkId(token), token, expiresAt: link.expiresAt };
      });
    },

    async invitationsOf(organizationId) {
      const links = await listLinks(store.db, organizationId, clock.nowMs());
      return links
        .flatMap(({ id, email, role, expiresAt }) => (email === null ? [] : [{ id, email, role, expiresAt }]))
        .sort((one, other) => one.expiresAt - other.expiresAt);
    },

    async cancelInvitation(organizationId, { id, actor }) {
      const nowMs = clock.nowMs();
      await store.transaction(async (tx) => {
        const links = await listLinks(tx, organizationId, nowMs);
        const link = links.find((each) => each.id === id && each.email !== null);
        if (!link) throw new AppError("NOT_FOUND", { message: "Invitation not found" });
        await deleteLink(tx, id);
        const entry = { organizationId, at: nowMs, actor, action: "invitation-cancelled" };
        await writeAudit(tx, { ...entry, target: `email:${link.email}` });
      });
    },
  };
}

export function toEmail(written: string): string {
  const email = written.trim().toLowerCase();
  if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new AppError("GENERIC_BAD_REQUEST", { message: "This is not an e-mail address" });
  }
  return email;
}

/** Accepts invitations to an address that the provider vouches for; these accounts need no password. */
async function acceptInvitations(
  { store, clock }: { store: Store; clock: Clock },
  { userId, email }: SignedInUser,
): Promise<void> {
  const nowMs = clock.nowMs();
  await store.transaction(async (tx) => {
    for (const link of await takeLinks(tx, nowMs, (each) => each.email === email.toLowerCase())) {
      const organizationId = link.organizationId as OrganizationId;
      await addMember(tx, organizationId, { userId, role: link.role }, { actor: link.invitedBy, nowMs });
    }
  });
}

/** Shares one load between callers; after a failure the next caller tries again. */
function once(load: () => Promise<AuthLibrary>): () => Promise<AuthLibrary> {
  let loading: Promise<AuthLibrary> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
