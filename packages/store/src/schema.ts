// Text ids, integer milliseconds since 1970, JSON as text. Columns are snake case in the database.
import type { FilterStatus, RoomProviderName, TransportName, VoiceFilter } from "@vocalhost/protocol";
import type { Generated } from "kysely";

export interface Schema {
  organizations: OrganizationRow;
  members: MemberRow;
  apiKeys: ApiKeyRow;
  agents: AgentRow;
  deployments: DeploymentRow;
  instances: InstanceRow;
  sessions: SessionRow;
  idempotency: IdempotencyRow;
  sessionRooms: SessionRoomRow;
  usedTokens: UsedTokenRow;
  secretSets: SecretSetRow;
  secretVersions: SecretVersionRow;
  secretValues: SecretValueRow;
  uploads: UploadRow;
  builds: BuildRow;
  buildLogLines: BuildLogLineRow;
  usage: UsageRow & UsageStart;
  periods: PeriodRow;
  corrections: CorrectionRow;
  outbox: OutboxRow & OutboxRetry;
  logLines: LogLineRow;
  outputCursors: OutputCursorRow;
  samples: SampleRow;
  audit: AuditRow;
  leader: LeaderRow;
  settings: SettingRow;
}

export type Id = string;
type Ms = number;
/** JSON text. */
type Json = string;

export interface OrganizationRow {
  id: Id;
  /** The name that people type; unique; part of socket addresses: `agent.organization`. */
  name: string;
  verboseName: string;
  /** `{ defaultRegion? }` */
  properties: Json;
  createdAt: Ms;
}

export interface MemberRow {
  organizationId: Id;
  userId: Id;
  role: "owner" | "admin" | "viewer";
  createdAt: Ms;
}

export interface ApiKeyRow {
  id: Id;
  organizationId: Id;
  /** SHA-256 of the whole key, hex. Unique. */
  sha256: string;
  kind: "private" | "public";
  name: string;
  lastFour: string;
  /** The whole key, of public ones only; null for those made before it was kept. */
  publicValue: string | null;
  /** Names of the agents a public key may start; null: all. */
  agents: Json | null;
  /** Starts a minute. */
  ratePerMinute: number | null;
  /** Sessions at once. */
  concurrency: number | null;
  createdBy: string;
  createdAt: Ms;
  expiresAt: Ms | null;
  revokedAt: Ms | null;
  lastUsedAt: Ms | null;
}

export type AgentState = "live" | "deleting" | "deleted";

export interface AgentRow {
  id: Id;
  organizationId: Id;
  /** Unique in its organisation and region among those not deleted. */
  name: string;
  /** Never changes. */
  region: string;
  state: AgentState;
  minAgents: number;
  maxAgents: number;
  desiredDeploymentId: Id;
  /** The Active one, or the last that was. */
  reconciledDeploymentId: Id | null;
  version: number;
  createdAt: Ms;
  updatedAt: Ms;
  deletedAt: Ms | null;
}

export type DeploymentPhase =
  | "Creating"
  | "Validating"
  | "Active"
  | "Draining"
  | "Retired"
  | "Failed"
  | "Superseded";

export interface DeploymentRow {
  id: Id;
  organizationId: Id;
  agentId: Id;
  phase: DeploymentPhase;
  phaseStartedAt: Ms;
  /** `DeploymentSpec` of `deployments/deployment-spec.ts`. */
  spec: Json;
  /** In a row, none ten minutes after the one before; decides the back-off. */
  crashes: number;
  lastCrashAt: Ms | null;
  lastExitCode: number | null;
  /** Last output of the instance that crashed. */
  crashText: string | null;
  failureCode: string | null;
  failureText: string | null;
  /** The progress of its preparation, before its first instance is made. */
  progressText: string | null;
  version: number;
  createdAt: Ms;
  updatedAt: Ms;
}

export type InstanceState = "requested" | "starting" | "ready" | "busy" | "draining" | "stopped" | "lost";

export interface InstanceRow {
  id: Id;
  organizationId: Id;
  agentId: Id;
  deploymentId: Id;
  state: InstanceState;
  /** The session it is reserved for or runs. */
  sessionId: Id | null;
  /** `host:port`, once known. */
  address: string | null;
  epoch: number;
  version: number;
  createdAt: Ms;
  /** When it entered its state. */
  stateAt: Ms;
  readyAt: Ms | null;
  /** Last proof of life. */
  lastSeenAt: Ms | null;
  exitCode: number | null;
  /** Why it left its last state, in words. */
  cause: string;
  /** The UDP port its calls come through; no other that lives has it. */
  mediaPort: number | null;
}

export type SessionState = "pending" | "starting" | "active" | "stopping" | "ended" | "failed" | "expired";

export interface SessionRow {
  id: Id;
  organizationId: Id;
  agentId: Id;
  /** Null while pending. */
  deploymentId: Id | null;
  instanceId: Id | null;
  state: SessionState;
  transport: TransportName;
  /** Start body of a session that waits for its socket; forgotten at the end. */
  body: Json | null;
  /** Network of a public key's caller while the session waits for its socket; forgotten then. */
  caller: string | null;
  /** Voice filter of the deployment when bound; never changes afterwards. */
  filter: VoiceFilter | null;
  /** `unavailable` from the binding on when the service has no engine; else what the instance last wrote down. */
  filterState: FilterStatus["state"] | null;
  filterFramesIn: number | null;
  filterFramesFiltered: number | null;
  /** `FilterFigures` of the protocol. */
  filterFigures: Json | null;
  coldStart: 0 | 1 | null;
  apiKeyId: Id | null;
  epoch: number;
  version: number;
  createdAt: Ms;
  boundAt: Ms | null;
  activeAt: Ms | null;
  /** `activeAt - boundAt` on the controller's monotonic clock. */
  startMs: number | null;
  maxDurationMs: number;
  deadlineAt: Ms | null;
  stopRequestedAt: Ms | null;
  stopReason: string | null;
  endedAt: Ms | null;
  endReason: string | null;
  /** How long the bot has run, on the instance's monotonic clock; as of the last heartbeat while it runs. */
  elapsedMs: number | null;
  /** How long controllers have seen it last, from its binding on, on their monotonic clocks. */
  observedMs: number | null;
  /** By how much what was seen corrected what its bot told; null: it did not. */
  lengthCorrectionMs: number | null;
  /** Whole seconds of the session as billed (whether or not the filter was on). */
  seconds: number | null;
  /** `{ bootMs, startMs, clientConnectedMs, botEnteredMs, firstAudioMs }`, each optional. */
  timeline: Json;
  /** Its agent's region; null for sessions from before it was noted. */
  region: string | null;
  /** Why it is there; see `sessions/choose-region.ts`. */
  regionReason: string | null;
  /** Where its caller wanted it, and whether nowhere else; also decides when a socket comes later. */
  regionAsked: string | null;
  staysInRegion: 0 | 1 | null;
}

/** The room of a session; forgotten once it is closed. */
export interface SessionRoomRow {
  sessionId: Id;
  provider: RoomProviderName;
  roomName: string;
  /** The caller on hold at Daily for whom the room was made. */
  callId: string | null;
  callDomain: string | null;
  /** Is not tried again before; 0: it was not tried yet. */
  againAt: Generated<Ms>;
}

export interface IdempotencyRow {
  organizationId: Id;
  key: string;
  parametersHash: string;
  sessionId: Id;
  createdAt: Ms;
}

/** Socket tokens are signed, not stored; only used ones are remembered until they expire. */
export interface UsedTokenRow {
  id: Id;
  expiresAt: Ms;
}

export interface SecretSetRow {
  id: Id;
  organizationId: Id;
  name: string;
  region: string;
  kind: "secret" | "imagePullSecret";
  status: "pending" | "ready" | "failed";
  errorMessage: string | null;
  /** Registry of an image-pull secret. */
  host: string | null;
  /** Newest version of the values. */
  currentVersion: number;
  createdAt: Ms;
  updatedAt: Ms;
}

export interface SecretVersionRow {
  setId: Id;
  version: number;
  /** Data key, wrapped by the master key named `masterKeyId`; base64. */
  wrappedKey: string;
  masterKeyId: string;
  createdAt: Ms;
}

export interface SecretValueRow {
  setId: Id;
  version: number;
  fieldName: string;
  /** base64 of nonce, tag, ciphertext. */
  ciphertext: string;
}

export interface UploadRow {
  id: Id;
  organizationId: Id;
  region: string;
  /** sha256 of the secret in the upload form. */
  policySha256: string;
  expiresAt: Ms;
  receivedAt: Ms | null;
  /** Until it is received: how much of the disk is held for what is coming in. */
  sizeBytes: number | null;
  createdAt: Ms;
}

export type BuildStatus = "pending" | "building" | "success" | "failed" | "timeout";

export interface BuildRow {
  id: Id;
  organizationId: Id;
  region: string;
  status: BuildStatus;
  uploadId: Id;
  /** Hash of the upload's bytes, as they came. */
  contextHash: string;
  /** Hash of the files in it, however they were compressed. */
  contentHash: string | null;
  dockerfilePath: string;
  imageUri: string | null;
  errorMessage: string | null;
  contextSizeBytes: number | null;
  imageSizeBytes: number | null;
  /** `BuildFacts` of `builds/build-facts.ts`: bot file, base version, filter packages found. */
  facts: Json;
  startedAt: Ms | null;
  completedAt: Ms | null;
  createdAt: Ms;
  updatedAt: Ms;
}

export interface BuildLogLineRow {
  buildId: Id;
  number: number;
  text: string;
}

/** One row per session and UTC month; totals are sums. */
export interface UsageRow {
  sessionId: Id;
  /** `2026-11`. */
  period: string;
  organizationId: Id;
  agentId: Id;
  seconds: number;
}

/** Only what puts a month's usage in order; no part of what is billed. */
interface UsageStart {
  /** When its session was bound; 0 for what was entered before this was noted and has no session any more. */
  startedAt: Generated<Ms>;
}

export interface PeriodRow {
  organizationId: Id;
  period: string;
  closedAt: Ms;
}

export interface CorrectionRow {
  sessionId: Id;
  period: string;
  organizationId: Id;
  seconds: number;
  foundAt: Ms;
}

export interface OutboxRow {
  /** `usage:{session}:{period}` */
  id: string;
  payload: Json;
  createdAt: Ms;
  sentAt: Ms | null;
  heldAt: Ms | null;
}

interface OutboxRetry {
  /** How often the receiver would not take it. */
  refusals: Generated<number>;
  /** Not before; 0: it was not tried yet. */
  againAt: Generated<Ms>;
}

export interface LogLineRow {
  instanceId: Id;
  /** Where the line begins in the instance's output. */
  position: number;
  organizationId: Id;
  agentId: Id;
  deploymentId: Id;
  sessionId: Id | null;
  at: Ms;
  /** Fraction of the millisecond, so that order survives. */
  nanos: number;
  text: string;
}

/** How far the output of an instance was read. */
export interface OutputCursorRow {
  instanceId: Id;
  nextPosition: number;
  /** The session the counts below belong to. */
  sessionId: Id | null;
  storedBytes: number;
  /** Where the lines now being dropped began; a line of ours stands there and counts them. */
  droppedFrom: number | null;
  droppedLines: number;
  updatedAt: Ms;
}

export interface SampleRow {
  sessionId: Id;
  at: Ms;
  cpuMillicores: number;
  memoryBytes: number;
}

export interface AuditRow {
  id: Id;
  organizationId: Id;
  at: Ms;
  /** `key:{id}`, `user:{id}`, `system`. */
  actor: string;
  action: string;
  target: string;
  details: Json;
}

export interface LeaderRow {
  /** Always 1: there is one. */
  id: number;
  holder: string;
  epoch: number;
  until: Ms;
}

export interface SettingRow {
  name: string;
  value: string;
}
