// Starts the whole REST interface on a socket for tests, by default with a store in memory.
import { createApiClient, type ApiClient, type Started } from "@vocalhost/protocol";
import type { FastifyInstance } from "fastify";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdmission, type SignedInUser } from "../../identity/admission.ts";
import { createApiKeys, type ApiKeys } from "../../identity/api-keys.ts";
import { createKeyCache } from "../../identity/key-cache.ts";
import { openPeople } from "../../identity/people.ts";
import type { OrganizationId } from "../../identity/principal.ts";
import { createRequestLimits, createStartLimits } from "../../identity/rate-limits.ts";
import { createBuildFolders } from "../../builds/build-folders.ts";
import { createBuilds } from "../../builds/builds.ts";
import { createQuotasById } from "../../identity/quotas/quotas-by-id.ts";
import { createQuotas, defaultQuotas } from "../../identity/quotas/quotas.ts";
import { silentLog } from "@vocalhost/base/log";
import { createMetrics } from "../../usage/metrics/metrics.ts";
import { addMember, type Role } from "../../identity/members.ts";
import { createOrganization } from "../../identity/organizations/organizations.ts";
import { parseMasterKeys } from "../../secrets/master-keys.ts";
import { createSecretSets } from "../../secrets/secret-sets.ts";
import { openMemoryStore } from "@vocalhost/store/sqlite";
import type { Store } from "@vocalhost/store/store";
import { systemClock } from "@vocalhost/base/system-clock";
import { createApiApp } from "../create-api-app.ts";
import { mountApi } from "../mount-api.ts";
import type { StartSessionRequest } from "../../sessions/doors/door.ts";
import type { StopSessionRequest } from "../../sessions/doors/session-doors.ts";
import type { ApiPorts } from "../ports.ts";

export interface ApiHarness extends AsyncDisposable {
  app: FastifyInstance;
  store: Store;
  dataFolder: string;
  apiKeys: ApiKeys;
  /** `http://127.0.0.1:port` */
  origin: string;
  acme: TestOrganization;
  other: TestOrganization;
  /** All issued keys. */
  issued: string[];
  /** A client with the private key of `acme`. */
  client: ApiClient;
  started: StartSessionRequest[];
  stopped: StopSessionRequest[];
  nudged: string[];
  /** Handles the next start. @default answers by transport */
  onStart: (request: StartSessionRequest) => Promise<Started>;
  /** Returns a bearer token of a signed-in person. */
  signIn(organization: TestOrganization, role: Role): Promise<string>;
  /** Adds a person without a sign-in; returns the user's id. */
  newMember(organization: TestOrganization, role: Role): Promise<string>;
  clientOf(token: string, organization?: string): ApiClient;
  fetch(path: string, init?: RequestInit & { token?: string }): Promise<Response>;
}

export interface TestOrganization {
  id: OrganizationId;
  name: string;
  privateKey: string;
  publicKey: string;
}

export const testRegions = [
  { code: "us-west", displayName: "US West (Oregon)" },
  { code: "eu-central", displayName: "Europe (Frankfurt)" },
];

const UNLIMITED = { reads: Infinity, changes: Infinity }; // tests send more requests than people

export async function startApiHarness(overrides: Partial<ApiPorts> = {}): Promise<ApiHarness> {
  await using stack = new AsyncDisposableStack();
  const clock = systemClock;
  const store = overrides.store ?? stack.use(await openMemoryStore());
  const keyCache = stack.use(createKeyCache({ store, clock }));
  const failpoint = () => undefined;
  const apiKeys = createApiKeys({ store, clock, cache: keyCache, failpoint });
  const secretSets = stack.use(
    createSecretSets({
      store,
      clock,
      masterKeys: parseMasterKeys(`test:${randomBytes(32).toString("base64")}`),
      regions: testRegions.map(({ code }) => code),
      failpoint,
      log: silentLog,
    }),
  );
  const dataFolder = await mkdtemp(join(tmpdir(), "vocalhost-api-"));
  stack.defer(() => rm(dataFolder, { recursive: true }));
  const quotasOf = overrides.quotasOf ?? createQuotas(defaultQuotas);
  const builds = createBuilds({
    store,
    clock,
    newId: () => randomUUID(),
    log: silentLog,
    regions: testRegions.map(({ code }) => code),
    dataFolder,
    folders: createBuildFolders({ dataFolder, objectStore: undefined, sdkFolder: dataFolder }),
    sdkFolder: dataFolder,
    quotasOf,
  });
  const signedIn = new Map<string, SignedInUser>();
  const { invite, invitationsOf, cancelInvitation } = openPeople({
    store,
    clock,
    log: silentLog,
    baseUrl: "http://localhost",
    secret: randomBytes(32).toString("hex"),
  });
  const people = {
    invite,
    invitationsOf,
    cancelInvitation,
    userOf: async (userId: string) => [...signedIn.values()].find((each) => each.userId === userId),
    sessionOf: async (headers: Headers) => signedIn.get(tokenIn(headers)),
    handler: async (request: Request) =>
      Response.json({ path: new URL(request.url).pathname, text: await request.text() }),
  };
  const acme = await makeOrganization({ store, apiKeys }, { name: "acme", nowMs: 1_000 });
  const other = await makeOrganization({ store, apiKeys }, { name: "other", nowMs: 2_000 });
  const started: StartSessionRequest[] = [];
  const stopped: StopSessionRequest[] = [];
  const nudged: string[] = [];
  const app = createApiApp(overrides.log ?? silentLog);
  const quotasById = createQuotasById({ db: store.db, quotasOf });
  await mountApi(app, {
    store,
    clock,
    log: silentLog,
    newId: () => randomUUID(),
    failpoint,
    admit: createAdmission({ store, clock, keyCache, people, signer: { secret: "of the service" } }),
    startLimits: createStartLimits({
      clock,
      organizationPerSecond: async (id) => (await quotasById(id)).startsPerSecond,
    }),
    apiKeys,
    secretSets,
    builds,
    people,
    regions: testRegions,
    hasVoiceEngine: false,
    isolation: () => ({ processes: null }),
    probeMedia: async () => ({ addresses: [], ports: null, port: null, answeredBy: "nobody" }),
    registries: [],
    quotasOf,
    requestLimits: createRequestLimits({ clock, rates: UNLIMITED }),
    nudge: (agentId) => void nudged.push(agentId),
    takeCall: async () => undefined,
    startSession: async (request) => {
      started.push(request);
      return { sessionId: randomUUID(), answer: await harness.onStart(request) };
    },
    stopSession: async (request) => void stopped.push(request),
    metrics: createMetrics({ store, dataFolder, version: "0.0.0" }),
    version: "0.0.0",
    ...overrides,
  });
  stack.defer(() => app.close());
  const origin = await app.listen({ host: "127.0.0.1", port: 0 });
  const clientOf = (token: string, organization?: string): ApiClient =>
    createApiClient({
      baseUrl: `${origin}/v1`,
      token,
      ...(organization === undefined ? {} : { organization }),
    });

  const owned = stack.move();
  const harness: ApiHarness = {
    app,
    store,
    dataFolder,
    apiKeys,
    origin,
    acme,
    other,
    issued: [acme, other].flatMap(({ privateKey, publicKey }) => [privateKey, publicKey]),
    client: clientOf(acme.privateKey),
    started,
    stopped,
    nudged,
    onStart: async ({ transport, wsBase }) =>
      transport === "webrtc"
        ? { sessionId: randomUUID() }
        : { wsUrl: `${wsBase}/ws/generic/a.acme`, token: "t" },
    async signIn(organization, role) {
      const userId = await harness.newMember(organization, role);
      const token = `session-${userId}`;
      signedIn.set(token, { userId, email: `${role}@example.com` });
      return token;
    },
    async newMember(organization, role) {
      const userId = randomUUID();
      const change = { actor: "system", nowMs: clock.nowMs() };
      await store.transaction((tx) => addMember(tx, organization.id, { userId, role }, change));
      return userId;
    },
    clientOf,
    fetch: (path, { token, headers, ...init } = {}) =>
      fetch(origin + path, {
        ...init,
        headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return harness;
}

async function makeOrganization(
  { store, apiKeys }: { store: Store; apiKeys: ApiKeys },
  { name, nowMs }: { name: string; nowMs: number },
): Promise<TestOrganization> {
  const id = await store.transaction((tx) => createOrganization(tx, { name }, { actor: "system", nowMs }));
  const { value: privateKey } = await apiKeys.create(id, { kind: "private", name: "first" }, "system");
  const { value: publicKey } = await apiKeys.create(id, { kind: "public", name: "first" }, "system");
  return { id, name, privateKey, publicKey };
}

function tokenIn(headers: Headers): string {
  const bearer = headers.get("authorization")?.replace(/^Bearer /, "");
  return bearer ?? /session=([^;]*)/.exec(headers.get("cookie") ?? "")?.[1] ?? "";
}
