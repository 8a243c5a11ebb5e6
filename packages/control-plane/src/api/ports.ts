// What the interface needs of the rest of the controller; the composition root brings it.
import type { Isolation, MediaProbe, RoomStarted } from "@vocalhost/protocol";
import type { ApiKeys } from "../identity/api-keys.ts";
import type { People } from "../identity/people.ts";
import type { Admit } from "../identity/principal.ts";
import type { RequestLimits, StartLimits } from "../identity/rate-limits.ts";
import type { Builds } from "../builds/builds.ts";
import type { Clock } from "@vocalhost/base/clock";
import type { Failpoint } from "@vocalhost/base/failpoints";
import type { Log } from "@vocalhost/base/log";
import type { Metrics } from "../usage/metrics/metrics.ts";
import type { QuotasOf } from "../identity/quotas/quotas.ts";
import type { SecretSets } from "../secrets/secret-sets.ts";
import type { StartOutcome, StartSessionRequest } from "../sessions/doors/door.ts";
import type { CallRequest } from "../sessions/doors/room-call.ts";
import type { StopSessionRequest } from "../sessions/doors/session-doors.ts";
import type { Store } from "@vocalhost/store/store";

export interface ApiPorts {
  store: Store;
  clock: Clock;
  log: Log;
  newId(): string;
  failpoint: Failpoint;
  admit: Admit;
  startLimits: StartLimits;
  apiKeys: ApiKeys;
  secretSets: Omit<SecretSets, typeof Symbol.asyncDispose>;
  builds: Omit<Builds, "run">;
  people: Pick<People, "handler" | "userOf" | "invite" | "invitationsOf" | "cancelInvitation">;
  /** How people can sign in. @default with a password */
  signInMethods?: readonly ("password" | "oidc")[];
  /** The first is the default. */
  regions: readonly ApiRegion[];
  /** Whether the service has the voice filter's engine. */
  hasVoiceEngine: boolean;
  isolation(): Isolation;
  probeMedia(): Promise<MediaProbe>;
  /** Internal registries that images may come from all the same. */
  registries: readonly string[];
  quotasOf: QuotasOf;
  requestLimits: RequestLimits;
  /** Something about this agent has changed; look at it now. */
  nudge(agentId: string): void;
  startSession(request: StartSessionRequest): Promise<StartOutcome>;
  /** A provider of rooms tells of a phone call; undefined when it was none. */
  takeCall(request: CallRequest): Promise<RoomStarted | undefined>;
  /** Writes the audit row as well. Throws `NOT_FOUND`. */
  stopSession(request: StopSessionRequest): Promise<void>;
  metrics: Metrics;
  /** Opens `/metrics` without a key. @default a private key does */
  metricsToken?: string;
  /** Version of the software, for `/healthz`. */
  version: string;
  /** Whether requests can be served at present; throws or resolves false if not. @default the store answers */
  isReady?(): Promise<boolean>;
}

export interface ApiRegion {
  code: string;
  displayName: string;
  /** How instances are made there, and whether they can be; undefined where all regions share a driver. */
  driver?: string;
  isDown?: () => boolean;
}
