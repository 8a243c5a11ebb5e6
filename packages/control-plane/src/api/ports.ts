// The interface's dependencies on the rest of the controller, passed by the composition root.
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
  /** The ways to sign in. @default with a password */
  signInMethods?: readonly ("password" | "oidc")[];
  /** The first is the default. */
  regions: readonly ApiRegion[];
  /** Whether the service has the voice filter's engine. */
  hasVoiceEngine: boolean;
  isolation(): Isolation;
  probeMedia(): Promise<MediaProbe>;
  /** Internal registries that are allowed as sources of images. */
  registries: readonly string[];
  quotasOf: QuotasOf;
  requestLimits: RequestLimits;
  /** Reconciles this agent soon, because it has changed. */
  nudge(agentId: string): void;
  startSession(request: StartSessionRequest): Promise<StartOutcome>;
  /** Handles a room provider's webhook of a phone call; returns undefined if it reported none. */
  takeCall(request: CallRequest): Promise<RoomStarted | undefined>;
  /** Stops the session and writes the audit row. Throws `NOT_FOUND`. */
  stopSession(request: StopSessionRequest): Promise<void>;
  metrics: Metrics;
  /** Opens `/metrics` without a key. @default a private key opens it */
  metricsToken?: string;
  /** Version of the software, for `/healthz`. */
  version: string;
  /** Whether requests can be served now; throws or resolves to false if not. @default the store answers */
  isReady?(): Promise<boolean>;
}

export interface ApiRegion {
  code: string;
  displayName: string;
  /** The kind of the region's driver; undefined if all regions share one. */
  driver?: string;
  isDown?: () => boolean;
}
