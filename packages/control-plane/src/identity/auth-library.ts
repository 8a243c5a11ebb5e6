// The only file that imports the library for accounts, passwords and sign-ins.
import type { Kysely } from "kysely";
import { silentLog, type Log } from "@vocalhost/base/log";
import type { Store } from "@vocalhost/store/store";
import type { SignedInUser } from "./admission.ts";

export const PASSWORD_LENGTH = { min: 8, max: 128 };
/** The header in which the gateway reports the client's address. */
export const ADDRESS_HEADER = "x-forwarded-for";
/** The `providerId` that the sign-in page sends. */
export const OIDC_PROVIDER_ID = "oidc";
export const CLI_CLIENT_ID = "vocalhost-cli";

export interface OidcProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

export interface AuthLibraryOptions {
  store: Store;
  /** `https://host`, without a path. */
  baseUrl: string;
  ownOrigins: string[];
  secret: string;
  oidc: OidcProvider | undefined;
  log: Log;
  /** Called after a person signed in through the OIDC provider. */
  onProviderSignIn(user: SignedInUser): Promise<void>;
}

export interface AuthLibrary {
  handler(request: Request): Promise<Response>;
  signIn(credentials: { email: string; password: string }, address: string): Promise<Response>;
  /** Returns the addresses of the account's open sessions. */
  signedInFrom(email: string): Promise<string[]>;
  sessionOf(headers: Headers): Promise<SignedInUser | undefined>;
  findUser(email: string): Promise<SignedInUser | undefined>;
  findUserById(userId: string): Promise<SignedInUser | undefined>;
  createUser(user: { email: string; name: string; password: string }): Promise<SignedInUser>;
  isPassword(userId: string, password: string): Promise<boolean>;
  setPassword(userId: string, password: string): Promise<void>;
  endSessions(userId: string): Promise<void>;
  deleteUser(userId: string): Promise<void>;
  /** Removes expired device codes; returns how many are open. */
  countDeviceCodes(): Promise<number>;
  /** Removes expired sign-ins, verifications and device codes; returns how many. */
  forgetExpired(): Promise<number>;
}

/** Loads the library and creates its tables. This takes most of a second, so no urgent work may wait for it. */
export async function loadAuthLibrary(options: AuthLibraryOptions): Promise<AuthLibrary> {
  const [{ betterAuth }, authOptions] = await Promise.all([import("better-auth"), loadOptions(options)]);
  await migrate(authOptions); // runs before the library inspects its tables and logs an error
  const auth = betterAuth(authOptions);
  const { adapter, internalAdapter, password } = await auth.$context;

  return {
    handler: (request) => auth.handler(request),
    signIn: (credentials, address) => {
      const headers = new Headers({ [ADDRESS_HEADER]: address });
      return auth.api.signInEmail({ body: credentials, headers, asResponse: true });
    },
    async signedInFrom(email) {
      const found = await internalAdapter.findUserByEmail(email);
      const sessions = found ? await internalAdapter.listSessions(found.user.id) : [];
      return sessions.flatMap(({ ipAddress }) => (ipAddress ? [ipAddress] : []));
    },
    async sessionOf(headers) {
      const session = await auth.api.getSession({ headers });
      return session ? { userId: session.user.id, email: session.user.email } : undefined;
    },
    async findUser(email) {
      const found = await internalAdapter.findUserByEmail(email);
      return found ? { userId: found.user.id, email: found.user.email } : undefined;
    },
    async findUserById(userId) {
      const user = await internalAdapter.findUserById(userId);
      return user ? { userId: user.id, email: user.email } : undefined;
    },
    async createUser(input) {
      const { email, name } = input;
      const user = await internalAdapter.createUser(
        { email, name, emailVerified: true },
        { method: "admin" },
      );
      await linkPassword(user.id, input.password);
      return { userId: user.id, email: user.email };
    },
    async isPassword(userId, candidate) {
      const account = await internalAdapter.findCredentialAccount(userId);
      return account?.password ? password.verify({ hash: account.password, password: candidate }) : false;
    },
    async setPassword(userId, value) {
      if ((await internalAdapter.findCredentialAccount(userId)) === null) await linkPassword(userId, value);
      else await internalAdapter.updatePassword(userId, await password.hash(value));
    },
    endSessions: (userId) => internalAdapter.deleteUserSessions(userId),
    deleteUser: (userId) => internalAdapter.deleteUser(userId),
    async countDeviceCodes() {
      await removeExpired("deviceCode");
      return adapter.count({ model: "deviceCode" });
    },
    async forgetExpired() {
      let removed = 0;
      for (const model of ["session", "verification", "deviceCode"] as const)
        removed += await removeExpired(model);
      return removed;
    },
  };

  function removeExpired(model: "session" | "verification" | "deviceCode"): Promise<number> {
    const where = [{ field: "expiresAt", operator: "lt", value: new Date() } as const];
    return adapter.deleteMany({ model, where });
  }

  async function linkPassword(userId: string, value: string): Promise<void> {
    await internalAdapter.linkAccount({
      userId,
      providerId: "credential",
      accountId: userId,
      password: await password.hash(value),
    });
  }
}

/** Creates only the tables, for a store that is filled from another one. */
export async function makeAuthTables(store: Store): Promise<void> {
  const unused = { baseUrl: "http://localhost", ownOrigins: [], secret: "x".repeat(32), oidc: undefined };
  const nobody = { store, log: silentLog, onProviderSignIn: async () => undefined };
  await migrate(await loadOptions({ ...unused, ...nobody }, { withProvider: true }));
}

async function migrate(authOptions: Awaited<ReturnType<typeof loadOptions>>): Promise<void> {
  const { getMigrations } = await import("better-auth/db/migration");
  const { runMigrations } = await getMigrations(authOptions);
  await runMigrations();
}

async function loadOptions(
  options: AuthLibraryOptions,
  { withProvider } = { withProvider: options.oidc !== undefined },
) {
  const [{ bearer, deviceAuthorization }, provider] = await Promise.all([
    import("better-auth/plugins"),
    withProvider ? import("@better-auth/sso") : undefined, // a third of the library's code
  ]);
  return {
    ...accountOptions(options),
    plugins: [
      bearer({ requireSignature: true }),
      deviceAuthorization({
        verificationUri: `${options.baseUrl}/device`,
        validateClient: (clientId) => clientId === CLI_CLIENT_ID,
        schema: { deviceCode: { modelName: "authDeviceCodes" } },
      }),
      ...(provider
        ? [
            provider.sso({
              modelName: "authProviders",
              trustEmailVerified: true,
              provisionUserOnEveryLogin: true,
              provisionUser: ({ user }) => options.onProviderSignIn({ userId: user.id, email: user.email }),
              defaultSSO: options.oidc ? [toDefaultProvider(options.oidc)] : [],
            }),
          ]
        : []),
    ],
  };
}

function accountOptions({ store, baseUrl, ownOrigins, secret, oidc, log }: AuthLibraryOptions) {
  return {
    appName: "Vocalhost",
    baseURL: baseUrl,
    basePath: "/auth",
    secret,
    // The library checks only the provider's origin here; the handler has already checked the request's.
    trustedOrigins: (request?: Request) => [
      ...ownOrigins,
      ...[request?.url, oidc?.issuer].filter((url) => url !== undefined).map((url) => new URL(url).origin),
    ],
    // The library uses its own column names; ours are translated.
    database: { db: store.db.withoutPlugins() as Kysely<unknown>, type: store.dialect },
    telemetry: { enabled: false },
    user: { modelName: "authUsers" },
    session: { modelName: "authSessions" },
    account: { modelName: "authAccounts" },
    verification: { modelName: "authVerifications" },
    emailAndPassword: {
      enabled: true,
      // Accounts come from an owner's link or an invitation.
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
    },
    databaseHooks: { account: { create: { before: forgetTokens }, update: { before: forgetTokens } } },
    rateLimit: {
      enabled: true,
      window: 10,
      max: 100,
      customRules: {
        "/get-session": false as const,
        "/sign-in/email": false as const, // limited before the request gets here
        "/sign-in/*": { window: 10, max: 10 },
        "/device": { window: 60, max: 10 },
        "/device/code": { window: 60, max: 10 },
      },
    },
    advanced: {
      cookiePrefix: "__Host-vocalhost",
      // The library's own prefix would be `__Secure-`.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: true, httpOnly: true, sameSite: "lax" as const, path: "/" },
    },
    logger: {
      level: "warn" as const,
      // Log arguments may be personal data, so only the sentence is kept.
      log: (level: "debug" | "info" | "warn" | "error", message: string) => log[level]({}, message),
    },
  };
}

/** Deletes the provider's tokens: the service only asks it for the person's identity. */
async function forgetTokens() {
  return { data: { accessToken: null, refreshToken: null, idToken: null } };
}

function toDefaultProvider(oidc: OidcProvider) {
  return {
    providerId: OIDC_PROVIDER_ID,
    domain: new URL(oidc.issuer).hostname,
    oidcConfig: {
      issuer: oidc.issuer,
      clientId: oidc.clientId,
      clientSecret: oidc.clientSecret,
      discoveryEndpoint: `${oidc.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
      scopes: ["openid", "email", "profile"],
      pkce: true,
    },
  };
}
