// What the interface needs of the rest of the controller; the composition root brings it.
import type { CarrierName, StartAnswer, TransportName } from "@vocalhost/protocol";
import type { ApiKeys } from "../auth/api-keys.ts";
import type { People } from "../auth/people.ts";
import type { Admit, OrganizationId, Principal } from "../auth/principal.ts";
import type { StartLimits } from "../auth/rate-limits.ts";
import type { Builds } from "../builds/builds.ts";
import type { Clock } from "../clock.ts";
import type { Failpoint } from "../failpoints.ts";
import type { Log } from "../log.ts";
import type { SecretSets } from "../secrets/secret-sets.ts";
import type { Store } from "../store/store.ts";

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
  /** Internal registries that images may come from all the same. */
  registries: readonly string[];
  /** Something about this agent has changed; look at it now. */
  nudge(agentId: string): void;
  startSession(request: StartSessionRequest): Promise<StartOutcome>;
  /** Writes the audit row as well. Throws `NOT_FOUND`. */
  stopSession(request: StopSessionRequest): Promise<void>;
  /** Opens `/metrics` without a key. @default a private key does */
  metricsToken?: string;
  /** Of the software, for `/metrics` and `/healthz`. */
  version: string;
  /** Whether requests can be served at present; throws or resolves false if not. @default the store answers */
  isReady?(): Promise<boolean>;
}

export interface ApiRegion {
  code: string;
  displayName: string;
}

export interface StartSessionRequest {
  principal: Principal;
  agentName: string;
  transport: TransportName | CarrierName;
  body: unknown;
  enableDefaultIceServers: boolean;
  idempotencyKey: string | undefined;
  /** `ws://host` or `wss://host`, as the client knows us. */
  wsBase: string;
}

export interface StartOutcome {
  /** Null when none exists before its socket comes. */
  sessionId: string | null;
  answer: StartAnswer;
}

export interface StopSessionRequest {
  organizationId: OrganizationId;
  agentName: string;
  sessionId: string;
  actor: string;
}
