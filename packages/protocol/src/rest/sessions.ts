import { z } from "zod";
import { EndState } from "../compatibility/end-states.ts";
import { FilterFigures, FilterStatus } from "../instance-api.ts";
import { VoiceFilter } from "./agent-settings.ts";
import { operations } from "./operation.ts";
import { pageQuery, Time, UnixSeconds } from "./values.ts";

export const SessionListQuery = pageQuery({ limit: 10, maxLimit: 1_000 }).extend({
  deploymentId: z.string().max(64).optional(),
  region: z.string().max(63).optional(),
  startTime: UnixSeconds.optional(),
  endTime: UnixSeconds.optional(),
  status: z.enum(["active", "ended", "all"]).default("all"),
  endState: EndState.optional(),
  startType: z.enum(["cold", "warm", "all"]).default("all"),
  /** Seconds until the bot had started; 0: no bound. */
  startTimeMin: z.coerce.number().int().min(0).max(86_400).default(0),
  startTimeMax: z.coerce.number().int().min(0).max(86_400).default(0),
});
export type SessionListQuery = z.infer<typeof SessionListQuery>;

/** State of the voice filter that a session's deployment asked for. */
export const SessionFilter = z.object({
  model: VoiceFilter,
  /** Null while unknown. */
  state: FilterStatus.shape.state.nullable(),
  framesIn: z.number().int().nonnegative(),
  framesFiltered: z.number().int().nonnegative(),
  ...FilterFigures.shape,
  /** False where the service could not run it. */
  billed: z.boolean(),
  /** A warning for the owner: billed but never used, or not run. */
  warning: z.string().nullable(),
});
export type SessionFilter = z.infer<typeof SessionFilter>;

export const Session = z.object({
  sessionId: z.uuid(),
  serviceId: z.uuid(),
  organizationId: z.string(),
  /** Empty while the session waits for its socket. */
  deploymentId: z.string(),
  endedAt: Time.nullable(),
  botStartSeconds: z.number().nullable(),
  coldStart: z.boolean().nullable(),
  completionStatus: z.string().nullable(),
  createdAt: Time,
  updatedAt: Time,
  status: z.enum(["pending", "starting", "active", "stopping", "ended", "failed", "expired"]),
  transport: z.string(),
  /** Where it is or was; null for sessions from before it was noted. */
  region: z.string().nullish(),
  /** Why there: `requested`, `own` or `nearest`, and what was wrong with those that were nearer. */
  regionReason: z.string().nullish(),
  endReason: z.string().nullable(),
  /** Status and reason in one word, as other tools know them. */
  endState: EndState.optional(),
  /** Whole seconds as they count for usage. */
  seconds: z.number().int().nullable(),
  /** By how much the length is more, or less, than the bot said, where the service saw otherwise. */
  lengthCorrectionMs: z.number().int().nullable(),
  /** Null when the deployment had no voice filter. */
  filter: SessionFilter.nullable(),
});
export type Session = z.infer<typeof Session>;

export const SessionList = z.object({ total_count: z.number().int(), sessions: z.array(Session) });
export type SessionList = z.infer<typeof SessionList>;

/** Milliseconds of each step between the request and the first audio. */
export const StartTimeline = z.object({
  queueMs: z.number().optional(),
  placeMs: z.number().optional(),
  bootMs: z.number().optional(),
  startMs: z.number().optional(),
  clientConnectedMs: z.number().optional(),
  botEnteredMs: z.number().optional(),
  firstAudioMs: z.number().optional(),
});
export type StartTimeline = z.infer<typeof StartTimeline>;

export const ResourceMetrics = z.object({
  id: z.string(),
  sessionId: z.string(),
  sampleCount: z.number().int(),
  cpuMillicoresP50: z.number(),
  cpuMillicoresP90: z.number(),
  cpuMillicoresP95: z.number(),
  cpuMillicoresP99: z.number(),
  memoryBytesP50: z.number(),
  memoryBytesP90: z.number(),
  memoryBytesP95: z.number(),
  memoryBytesP99: z.number(),
  /** Unix seconds, millicores, bytes. */
  timeseries: z.array(z.object({ t: z.number(), c: z.number(), m: z.number() })),
  eventTs: Time,
  createdAt: Time,
});
export type ResourceMetrics = z.infer<typeof ResourceMetrics>;

export const SessionDetails = Session.extend({
  resourceMetrics: ResourceMetrics.nullable(),
  meetingIds: z.array(z.object({ participantId: z.string(), meetingId: z.string() })),
  timeline: StartTimeline,
});
export type SessionDetails = z.infer<typeof SessionDetails>;

export const SessionStopped = z.object({ status: z.literal("terminated"), session_id: z.uuid() });
export type SessionStopped = z.infer<typeof SessionStopped>;

const sessionId = z.uuid();

export const sessionOperations = operations("Sessions", {
  list: {
    id: "listSessions",
    summary: "Sessions of an agent, newest first",
    method: "GET",
    path: "/agents/:serviceName/sessions",
    right: "view",
    query: SessionListQuery,
    answer: SessionList,
  },
  get: {
    id: "getSession",
    summary: "One session: how it started, what it used, how it ended",
    method: "GET",
    path: "/agents/:serviceName/sessions/:sessionId",
    right: "view",
    params: { sessionId },
    answer: SessionDetails,
  },
  stop: {
    id: "stopSession",
    summary: "End a session at once",
    method: "DELETE",
    path: "/agents/:serviceName/sessions/:sessionId",
    right: "manage",
    params: { sessionId },
    answer: SessionStopped,
  },
});
