// Errors, ids, limits
export { AppError, errorTable, isAppError } from "./errors.ts";
export type { AppErrorOptions, ErrorBody, ErrorCode, ErrorRow, FieldProblem } from "./errors.ts";
export { newPeerId, newSessionId } from "./ids.ts";
export type { PeerId, SessionId } from "./ids.ts";
export { audioRatesHz, isAudioRate, limits } from "./limits.ts";
export { closestWord } from "./closest-word.ts";

// Settings that programs read from their environment
export { httpUrl, json, list, oneOf, parsedBy, readSettings, wholeNumber, yesOrNo } from "./settings.ts";
export type { Setting, Settings, ValuesOf } from "./settings.ts";
export { logFormatSetting, readableLog } from "./readable-log.ts";

// Starting and reaching a session
export {
  chooseTransport,
  Connect,
  IceServer,
  isSocketTransport,
  requestedTransport,
  requireStartBodyFits,
  roomAliases,
  RoomCallData,
  roomProviderNames,
  transportNames,
} from "./transports.ts";
export type { RoomProviderName, TransportChoice, TransportName } from "./transports.ts";
export { carrierNames, isCarrier, readCarrierAccounts, readCarrierAddresses } from "@vocalhost/carriers";
export type { CarrierAccounts, CarrierAddresses, CarrierName } from "@vocalhost/carriers";

// Phone calls
export { askCarrier, refusalOf } from "./calls/carrier-request.ts";
export type { CarrierAnswer, CarrierRequest } from "./calls/carrier-request.ts";
export { Callee, Dialled, Dialout, dialRequest, placeCall } from "./calls/dial.ts";
export type { DialOrder } from "./calls/dial.ts";
export { answeredXml, askingCarrier, transferAsker, transferXml } from "./calls/dial.ts";

// Reaching a session
export {
  CallPrepared,
  CandidatesRequest,
  DialoutRequest,
  OfferRequest,
  REGION_HEADER,
  REGION_REASON_HEADER,
  RoomStarted,
  SocketPrepared,
  Started,
  StartRequest,
  WebrtcStarted,
} from "./session-api.ts";
export type { IceCandidate, Invitation, OfferAnswer, StatusAnswer } from "./session-api.ts";
export { readStunAnswer, stunAnswer, stunRequest } from "./stun.ts";
export type { StunAddress } from "./stun.ts";
export { parseJson } from "./parse-json.ts";
export { parseJsonBody } from "./parse-json.ts";
export { frameworkErrorCodes, refusalOfBytes, withoutQuery } from "./errors.ts";

// Messages between client and bot
export { clientMessages, parseRtviVersion, RTVI_LABEL, RTVI_VERSION, RtviFile, RtviMessage } from "./rtvi.ts";
export type {
  BotCapabilities,
  BotOutput,
  ClientAbout,
  ClientMessageData,
  ClientMessageType,
  MetricItem,
  Metrics,
  RtviVersion,
  ServerMessages,
  ServerMessageType,
  TokenUsage,
} from "./rtvi.ts";
export { encodeFrame, FrameError, parseFrame } from "./frames.ts";
export type { Frame } from "./frames.ts";

export { FilterLevel, FilterView, SwitchFilter } from "./session-api.ts";

// Controller and instance
export {
  AliveRecord,
  ExitRecord,
  FilterFigures,
  noFilterFigures,
  FilterStatus,
  InstanceEvent,
  instanceFiles,
  BootstrapPayload,
  sharedFileNames,
  InstanceStart,
  InstanceStatus,
  InstanceStop,
  instanceVariables,
  SessionMarks,
  INSTANCE_FILE_BYTES,
  ReadyReport,
  TerminationMessage,
  TERMINATION_MESSAGE_BYTES,
} from "./instance-api.ts";

// Names and spellings of other tools
export { foreignManifest, foreignRecord, translateSettings } from "./compatibility/agent-settings.ts";
export { withoutForeignPrefix } from "./compatibility/names.ts";
export { EndState, endStateOf, endStateRows } from "./compatibility/end-states.ts";
export type { EndStateRow } from "./compatibility/end-states.ts";
export { FOREIGN_CODE_HEADER, foreignCodeOf } from "./compatibility/names.ts";
export { withOurVariables } from "./compatibility/names.ts";
export { serviceHostIn } from "./compatibility/names.ts";

// The REST interface of the hosted service
export { ApiError, createApiClient } from "./api-client.ts";
export type { ApiClient, ApiClientOptions, LogEvent, StartOptions, UploadForm } from "./api-client.ts";
export {
  AgentCondition,
  AgentList,
  AgentListItem,
  AgentListQuery,
  AgentName,
  agentOperations,
  AgentRecord,
  CreateAgent,
  deploymentOperations,
  ImageReference,
  RegionQuery,
  RevisionHealth,
  RevisionInfo,
  UpdateAgent,
  UpdateService,
  WrappedAgentRecord,
} from "./rest/agents.ts";
export { agentLimits, AgentProfile, agentSettings, VoiceFilter } from "./rest/agent-settings.ts";
export type { AgentSetting, SettingField, SettingKey, SettingOption } from "./rest/agent-settings.ts";
export { AgentProfileList, agentProfileOperations } from "./rest/agent-profiles.ts";
export {
  defaultValues,
  placeAt,
  readAt,
  settingName,
  settingsOf,
  storedSettings,
  tomlSettings,
} from "./rest/setting-values.ts";
export type { SettingName, SettingScalar, SettingValues } from "./rest/setting-values.ts";
export {
  Build,
  BuildAnswer,
  BuildList,
  BuildListQuery,
  BuildLogs,
  BuildLogsQuery,
  buildOperations,
  BuildStarted,
  BuildStatus,
  CreateBuild,
  CreateUpload,
  Upload,
} from "./rest/builds.ts";
export {
  Deployment,
  DeploymentList,
  DeploymentListItem,
  DeploymentSettings,
  Manifest,
  Rollback,
} from "./rest/deployments.ts";
export { ChangeEvent, ChangeKind, eventOperations } from "./rest/logs.ts";
export { CreateKey, Key, KeyCreated, KeyList, keyOperations, RotateKey } from "./rest/keys.ts";
export { LogLine, LogList, logOperations, LogQuery, LogTailQuery } from "./rest/logs.ts";
export {
  ChangeMember,
  InviteMember,
  Member,
  MemberInvitation,
  MemberInvited,
  MemberList,
  memberOperations,
} from "./rest/members.ts";
export {
  AuditEntry,
  AuditList,
  auditOperations,
  AuditQuery,
  AuthConfig,
  CreateOrganization,
  OrganizationCreated,
  OrganizationList,
  organizationOperations,
  QuotaList,
  UserAnswer,
} from "./rest/organizations.ts";
export { Instance, Pool, poolOperations } from "./rest/pool.ts";
export { PatchProperties, Properties, PropertiesSchema, propertyOperations } from "./rest/properties.ts";
export {
  dialOutOperations,
  IdempotencyKey,
  publicStartOperations,
  StartHeaders,
} from "./rest/public-start.ts";
export {
  Isolation,
  MediaProbe,
  Region,
  RegionCode,
  RegionDetails,
  RegionList,
  regionOperations,
  VoiceFilterSupport,
} from "./rest/regions.ts";
export {
  PutSecrets,
  SecretKey,
  secretOperations,
  SecretSet,
  SecretSetList,
  SecretSetName,
  SecretSetSummary,
  SecretsStored,
} from "./rest/secrets.ts";
export {
  ResourceMetrics,
  Session,
  SessionDetails,
  SessionFilter,
  SessionList,
  SessionListQuery,
  sessionOperations,
  SessionStopped,
  StartTimeline,
} from "./rest/sessions.ts";
export { Usage, UsageDays, usageOperations, UsageQuery } from "./rest/usage.ts";
export { Done, ErrorAnswer, Month } from "./rest/values.ts";
export { pathNames, scopedPath } from "./rest/operation.ts";
export type { Operation, Operations, PathName } from "./rest/operation.ts";
