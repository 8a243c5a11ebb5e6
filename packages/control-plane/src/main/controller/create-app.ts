import type { FastifyInstance } from "fastify";
import type { ApiRegion } from "../../api/ports.ts";
import { type Config, driversOf, type Region } from "../config.ts";
import { driverIn } from "@vocalhost/drivers/driver";
import { createApiApp, type ApiAppOptions } from "../../api/create-api-app.ts";
import { mountApi } from "../../api/mount-api.ts";
import { createAdmission } from "../../identity/admission.ts";
import { createApiKeys } from "../../identity/api-keys.ts";
import { createKeyCache } from "../../identity/key-cache.ts";
import { openPeople, type People } from "../../identity/people.ts";
import { createRequestLimits, createStartLimits } from "../../identity/rate-limits.ts";
import { createBuilds, type Builds } from "../../builds/builds.ts";
import { mountDashboard } from "../../api/dashboard/mount-dashboard.ts";
import { mountDocs } from "../../api/dashboard/mount-docs.ts";
import { createSecretSets } from "../../secrets/secret-sets.ts";
import { findRegions } from "./find-regions.ts";
import { createMediaProbe } from "./probe-media.ts";
import { createIceServers } from "../../sessions/doors/ice-servers.ts";
import { createSessionDoors } from "../../sessions/doors/session-doors.ts";
import { VERSION } from "@vocalhost/base/version";
import type { LeaderCore } from "./leader-core.ts";
import { findSdk } from "./find-sdk.ts";
import { mountInternalRoutes } from "./internal-routes.ts";
import { openPeerCredentials, type PeerCredentials } from "@vocalhost/base/peers/peer-credentials";
import { createPeerServer } from "@vocalhost/base/peers/peer-server";
import type { SessionDialling, SessionRooms } from "../../sessions/doors/door.ts";
import { hostsOf, openRoomServer, type OpenRoomServer } from "./room-server.ts";
import { createQuotasById } from "../../identity/quotas/quotas-by-id.ts";
import type { BaseServices } from "./base-services.ts";
import { AppError, type Isolation, readCarrierAccounts } from "@vocalhost/protocol";
import { type DeployingOptions } from "../../agents/deployments/deploying.ts";
import { type OpenRoomsOptions } from "./open-rooms.ts";
import { type LeaderState } from "./leader-state.ts";

/** The web application, and those of its parts that work in the background. */
export interface App {
  app: FastifyInstance;
  people: People;
  builds: Builds;
  rooms: SessionRooms;
}

export interface AppOptions {
  stack: AsyncDisposableStack;
  isEnding(): boolean;
  openRoomServer: OpenRoomServer;
}

export async function createApp(
  base: BaseServices,
  leaderCore: LeaderCore,
  options: AppOptions,
): Promise<App> {
  const { stack, isEnding } = options;
  const { config, log, clock, failpoint, newId, store, leaderState } = base;
  const { world, wakeups, reconciler } = leaderCore;
  const { metrics } = base;
  const { instanceToken, masterKeys, peopleSecret, roomsSecret, socketSecret } = base.secrets;
  const { publicUrl, dataFolder, oidc, queueMs } = config;
  const knownRegions = await findRegions(store.db, config.regions);
  const regions = knownRegions.map(({ code }) => code);
  const { allowsForeignPackages, quotasOf } = config;
  const sdkFolder = findSdk();
  const builds = createBuilds({
    store,
    clock,
    newId,
    log,
    regions,
    dataFolder,
    sdkFolder,
    allowsForeignPackages,
    users: base.users.range,
    quotasOf,
    atOnce: config.buildsAtOnce,
    imagesIn: base.imagesIn,
    folders: base.buildFolders,
    objectStore: base.objectStore,
  });
  const keyCache = stack.use(createKeyCache({ store, clock }));
  const people = openPeople({ store, clock, log, baseUrl: publicUrl, secret: peopleSecret, oidc });
  const signer = { secret: socketSecret };
  const admit = createAdmission({ store, clock, keyCache, people, signer });
  const starter = { world, wakeups, nudge: reconciler.nudge, isEnding };
  const rooms = openRoomsLater({
    config: config.rooms,
    apiSecret: roomsSecret,
    openServer: () =>
      openRoomServer(options.openRoomServer, { apiSecret: roomsSecret, hosts: hostsOf(base.driver) }),
    hostOf: (region) => driverIn(base.driver, region).host,
    log,
    clock,
  });
  const iceServersOf = createIceServers({ ...config, clock });
  const doors = createSessionDoors({
    starter,
    admit,
    iceServersOf,
    queueMs,
    instanceToken,
    signer,
    rooms,
    callbackUrl: `${publicUrl}/v1/public`,
    dialling: createDialling(config, leaderCore.secretsOf),
  });
  const secretSets = stack.use(createSecretSets({ store, clock, masterKeys, regions, failpoint, log }));

  const peers = config.peers?.listen && stack.use(openPeerCredentials(config.peers.files, { log }));
  const app = createApiApp(log, peers && { createServer: peerServerOf(peers, log) });
  refuseChangesUnlessLeading(app, leaderState);
  app.addHook("onResponse", async ({ routeOptions }, { statusCode }) => {
    if (statusCode === 200 && routeOptions.url?.endsWith("/start")) failpoint("active.replied.after");
  });
  const quotasById = createQuotasById({ db: store.db, quotasOf });
  await mountApi(app, {
    store,
    clock,
    log,
    newId,
    failpoint,
    admit,
    startLimits: createStartLimits({
      clock,
      startsPerMinute: config.startsPerMinute,
      organizationPerSecond: async (id) => (await quotasById(id)).startsPerSecond,
    }),
    apiKeys: createApiKeys({ store, clock, cache: keyCache, failpoint }),
    secretSets,
    builds,
    people,
    signInMethods: oidc ? ["password", "oidc"] : ["password"],
    regions: knownRegions.map((region) => toApiRegion(region, base)),
    hasVoiceEngine: world.hasVoiceEngine,
    isolation: () => isolationOf(base),
    probeMedia: createMediaProbe({ store, media: config.media, mediaPorts: world.mediaPorts }),
    registries: config.registries,
    quotasOf,
    requestLimits: createRequestLimits({ clock, rates: config.requestRates }),
    nudge: () => reconciler.nudge(),
    startSession: doors.start,
    takeCall: doors.takeCall,
    stopSession: doors.stop,
    version: VERSION,
    metrics,
    ...(config.metricsToken ? { metricsToken: config.metricsToken } : {}),
  });
  mountDocs(app);
  mountDashboard(app);
  mountInternalRoutes(app, {
    doors,
    left: () => reconciler.nudge(),
    sampled: metrics.gatewaySampled,
    leaderState,
  });
  return { app, people, builds, rooms };
}

/** The API hides how instances run, unless each region has its own driver. */
function toApiRegion(
  { code, displayName, driver: own }: Region,
  { driver: { regional } }: BaseServices,
): ApiRegion {
  if (!own || !regional) return { code, displayName };
  return { code, displayName, driver: own.kind, isDown: () => regional.away().has(code) };
}

function peerServerOf(
  credentials: PeerCredentials,
  log: BaseServices["log"],
): NonNullable<ApiAppOptions["createServer"]> {
  return (handler, { headersMaxBytes }) => createPeerServer(handler, { credentials, headersMaxBytes, log });
}

/** Agents place calls with the accounts in their own secrets, through addresses that only the operator may change. */
function createDialling(
  { takesPublicDialout, carrierAddresses }: Pick<Config, "takesPublicDialout" | "carrierAddresses">,
  secretsOf: DeployingOptions["secretsOf"],
): SessionDialling {
  return {
    takesPublicKeys: takesPublicDialout,
    async accountsOf(organizationId, { secretSet, secretVersion }) {
      const secrets =
        secretSet === null || secretVersion === null
          ? {}
          : await secretsOf(organizationId, secretSet, secretVersion);
      return readCarrierAccounts(secrets, carrierAddresses);
    },
  };
}

/** Returns the isolation that the process driver, if there is one, offers on this machine. */
function isolationOf({ config, driver, users }: BaseServices): Isolation {
  const { regions = [] } = config;
  const isOwn = driversOf(regions).length > 0;
  const drivers = isOwn
    ? regions.flatMap(({ code, driver: own }) => (own?.kind === "process" ? [driverIn(driver, code)] : []))
    : config.driver.kind === "process"
      ? [driver]
      : [];
  const [first] = drivers; // all of them are on this machine
  if (!first) return { processes: null };
  const { range, why } = users;
  const memory = first.capabilities.memoryLimit ? "control-groups" : "watch";
  return { processes: { users: range ?? null, ...(why === undefined ? {} : { why }), memory } };
}

/** Loads the code for rooms when the first room is needed: most services have none. */
function openRoomsLater(options: OpenRoomsOptions): SessionRooms {
  let opening: Promise<SessionRooms> | undefined;
  const open = (): Promise<SessionRooms> =>
    (opening ??= import("./open-rooms.ts").then(({ openRooms }) => openRooms(options)));
  return {
    require: async (requested) => (await open()).require(requested),
    make: async (wanted) => (await open()).make(wanted),
    readCall: async (told) => (await open()).readCall(told),
    readReady: async (told) => (await open()).readReady(told),
    forwardCall: async (call) => (await open()).forwardCall(call),
    close: async (provider, roomName) => (await open()).close(provider, roomName),
  };
}

/** Reads that use POST. */
const READS = ["/internal/session-route"];

/** Lets a standby answer reads. Gateways send everything else to the leader. */
function refuseChangesUnlessLeading(app: FastifyInstance, leaderState: LeaderState): void {
  app.addHook("onRequest", async (request) => {
    if (leaderState.isLeading || request.method === "GET" || request.method === "HEAD") return;
    if (READS.includes(request.url)) return;
    throw new AppError("SERVICE_UNAVAILABLE", { message: "This controller stands by; another one leads" });
  });
}
