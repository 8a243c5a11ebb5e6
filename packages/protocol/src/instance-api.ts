import { z } from "zod";
import { VoiceFilter } from "./rest/agent-settings.ts";
import { Connect, transportNames } from "./transports.ts";

// Messages between the controller and an instance (a session server with a one-session lease).
// Every request carries `Authorization: Bearer <instance token>`; the gateway uses the same token.

// Values that an instance reports about itself and its session. It shares a process with the bot, which can change every
// clock and counter: a value that makes no sense must not invalidate the record or fail the reader.

/** Fits every integer column and every date; thousands of them still add up exactly. */
export const TOLD_MAX = 2 ** 50;

/** Durations and sizes, finite and not negative. A value that is no number counts as 0. */
const ToldAmount = z
  .number()
  .catch(0)
  .transform((amount) => Math.min(Math.max(amount, 0), TOLD_MAX));

/** The same, whole. */
const ToldCount = ToldAmount.transform(Math.round);

/** Left out when it makes no sense. */
const ToldMark = z.number().nonnegative().max(TOLD_MAX).optional().catch(undefined);

/** Whole milliseconds since 1970 by the instance's wall clock, however that is set; null when it makes no sense. */
const ToldTime = z.number().nonnegative().max(TOLD_MAX).transform(Math.round).nullable().catch(null);

const REASON_MAX_CHARACTERS = 100; // ours have 15
const UNREADABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** A word or two; without line breaks, nor anything else that is not seen. */
const ToldReason = z
  .string()
  .catch("")
  .transform((text) => {
    const readable = text.replace(UNREADABLE, " ").trim().slice(0, REASON_MAX_CHARACTERS);
    return readable.toWellFormed() || "unknown";
  });

/** `POST /instance/start`: run this session. The same id again gives the same answer, another id 409. */
export const InstanceStart = z.object({
  /** Epoch of the leader that asks; an instance refuses any epoch older than the newest it has seen. */
  epoch: z.number().int().nonnegative(),
  sessionId: z.uuid(),
  transport: z.enum(transportNames),
  body: z.unknown().optional(),
  /** The instance cancels the bot this long after the acknowledgement, even without the controller. */
  maxDurationMs: z.number().int().positive(),
  connectDeadlineMs: z.number().int().positive(),
  connect: Connect,
  /** The filter of the deployment; null for none. */
  filter: VoiceFilter.nullable().default(null),
});
export type InstanceStart = z.infer<typeof InstanceStart>;

/** `POST /instance/stop`: end this session. A session that is over or unknown is no error. */
export const InstanceStop = z.object({
  epoch: z.number().int().nonnegative(),
  sessionId: z.uuid(),
  reason: z.enum(["stopped", "deadline", "shutdown"]),
});
export type InstanceStop = z.infer<typeof InstanceStop>;

/** Moments of a session, in milliseconds after the instance acknowledged it. */
export const SessionMarks = z.object({
  clientConnected: ToldMark,
  botEntered: ToldMark,
  firstAudio: ToldMark,
});
export type SessionMarks = z.infer<typeof SessionMarks>;

/** Figures of the voice filter in a session. */
export const FilterFigures = z.object({
  /** Version of the model; null when no engine ran. */
  version: z
    .string()
    .regex(/^[\w.+-]{1,40}$/)
    .nullable(),
  /** Audio that went through it. */
  seconds: z.number().nonnegative(),
  /** Part of the filtered frames in which the caller was heard, 0 to 1. */
  nearShare: z.number().min(0).max(1).nullable(),
  /** How much weaker the audio left it than it came. */
  levelRemovedDb: z.number().nullable(),
  cpuMs: z.number().nonnegative(),
  /** Audio that passed unfiltered while the user had switched the filter off to compare. */
  bypassedSeconds: z.number().nonnegative(),
  /** How often it failed at something; the audio passed untouched. */
  failures: z.number().int().nonnegative(),
});
export type FilterFigures = z.infer<typeof FilterFigures>;

export const noFilterFigures: FilterFigures = {
  version: null,
  seconds: 0,
  nearShare: null,
  levelRemovedDb: null,
  cpuMs: 0,
  bypassedSeconds: 0,
  failures: 0,
};

/** State of the voice filter in a session that asked for it. */
export const FilterStatus = z.object({
  asked: VoiceFilter,
  /** `not-attached`: the bot does not use it. `unavailable`: the engine is not there. `failed`: it did not do its work. */
  state: z.enum(["ran", "not-attached", "unavailable", "failed"]),
  framesIn: ToldCount,
  framesFiltered: ToldCount,
  /** Left out by older instances; a figure that makes no sense must not cost the session its record. */
  figures: FilterFigures.refine(isBounded).catch(noFilterFigures),
});
export type FilterStatus = z.infer<typeof FilterStatus>;

const ToldMarks = SessionMarks.catch({});
const ToldFilter = FilterStatus.nullable().optional().catch(undefined);

/** Written beside the bot when a session ends, before the end is reported: `exit-{sessionId}.json`. */
export const ExitRecord = z.object({
  sessionId: z.uuid(),
  reason: ToldReason,
  /** From the acknowledgement to the end, on the instance's monotonic clock. */
  elapsedMs: ToldAmount,
  endedAtMs: ToldTime,
  /** When it was first asked to stop, on the same clock as `elapsedMs`. */
  stopAskedMs: ToldMark,
  marks: ToldMarks,
  /** Left out by instances that know nothing of filters. */
  filter: ToldFilter,
});
export type ExitRecord = z.infer<typeof ExitRecord>;

/** Written beside the bot with every heartbeat while a session runs: `alive.json`. */
export const AliveRecord = z.object({
  sessionId: z.uuid(),
  elapsedMs: ToldAmount,
  atMs: ToldTime,
  filter: ToldFilter,
});
export type AliveRecord = z.infer<typeof AliveRecord>;

/** `GET /instance`. */
export const InstanceStatus = z.object({
  instanceId: z.string(),
  epoch: ToldCount,
  /** Loaded, and the bot's own `readyz` agrees: may take a session. */
  ready: z.boolean(),
  session: z
    .object({
      sessionId: z.uuid(),
      state: z.enum(["waiting", "running", "ended"]),
      elapsedMs: ToldAmount,
      marks: ToldMarks,
      exit: ExitRecord.nullable(),
    })
    .nullable(),
  cpuMs: ToldAmount,
  memoryBytes: ToldCount,
});
export type InstanceStatus = z.infer<typeof InstanceStatus>;

/**
 * `GET /instance/events`: newline-delimited JSON for as long as the controller stays. Begins with a `status`, repeats
 * it with every heartbeat, at once when the session is over and a moment after any other change, so a lost event is never
 * missed.
 */
export const InstanceEvent = z.object({ type: z.literal("status"), status: InstanceStatus });
export type InstanceEvent = z.infer<typeof InstanceEvent>;

/** Where an instance learns who it is; removed from the environment before the bot is loaded. */
export const instanceVariables = {
  id: "VOCALHOST_INSTANCE_ID",
  token: "VOCALHOST_INSTANCE_TOKEN",
  /** Folder for `address`, `alive.json` and exit records. */
  folder: "VOCALHOST_INSTANCE_FOLDER",
  /** Host and port to listen on; `address` holds what was bound. @default 127.0.0.1:0 */
  listen: "VOCALHOST_INSTANCE_LISTEN",
  heartbeatMs: "VOCALHOST_INSTANCE_HEARTBEAT_MS",
  /** An idle instance without a controller ends after this time. */
  aloneMs: "VOCALHOST_INSTANCE_ALONE_MS",
  bot: "VOCALHOST_INSTANCE_BOT",
  /** The UDP port all its calls come through. @default any */
  mediaPort: "VOCALHOST_INSTANCE_MEDIA_PORT",
  /** Addresses, with commas between them, that clients are told instead of its own. */
  mediaAddress: "VOCALHOST_INSTANCE_MEDIA_ADDRESS",
  /** Module of the voice filter's engine, where the service has one. */
  vivaEngine: "VOCALHOST_VIVA_ENGINE",
  /** The transport its session will probably come over, as the one before did. @default none */
  expects: "VOCALHOST_INSTANCE_EXPECTS",
  /** `stdin`: everything else comes as a bootstrap payload on standard input, and the folder holds its files. */
  bootstrap: "VOCALHOST_INSTANCE_HANDOVER",
  /** A file that is kept when nothing else of the instance is: all its records go there, see `TerminationMessage`. */
  terminationMessage: "VOCALHOST_INSTANCE_LAST_WORD",
  /** Where it reports how its boot goes: `POST {ready URL}/{instance id}`, see `ReadyReport`. @default nowhere */
  readyUrl: "VOCALHOST_INSTANCE_HOME",
  /** The address others reach it at, if it is not the one it listens on. */
  ip: "VOCALHOST_INSTANCE_IP",
} as const;

/**
 * The newest record of an instance whose folder goes with it. Clusters keep so many bytes of one file beyond the end of
 * a container; the record is filled up with spaces to that length, so that one write replaces it.
 */
export const TerminationMessage = z.object({ alive: AliveRecord.optional(), exit: ExitRecord.optional() });
export type TerminationMessage = z.infer<typeof TerminationMessage>;
export const TERMINATION_MESSAGE_BYTES = 4096;

/**
 * Posted to the ready URL: while a slow bot still loads, how long the instance has waited for the processor, and once it
 * listens, where. The receiver would find the address by itself, only later.
 */
export const ReadyReport = z.union([
  z.object({ address: z.string().max(100) }),
  z.object({ starvedMs: z.number().nonnegative() }),
]);
export type ReadyReport = z.infer<typeof ReadyReport>;

/**
 * One line of JSON on an instance's standard input. Users of an engine can read a container's environment, which also
 * stays in the engine's files; this line is not exposed like that.
 */
export const BootstrapPayload = z.object({ environment: z.record(z.string(), z.string()) });
export type BootstrapPayload = z.infer<typeof BootstrapPayload>;

/** Names of the files an instance writes into its folder. */
export const instanceFiles = {
  /** `host:port`, written when the bot is loaded and the server listens. */
  address: "address",
  alive: "alive.json",
  exit: (sessionId: string): string => `exit-${sessionId}.json`,
} as const;

/**
 * Names of the files prepared in the folder of an instance that cannot create files there, so that no container can
 * fill the disk of its host. Records are overwritten in place and padded with spaces.
 */
export const sharedFileNames = {
  address: "address",
  alive: "alive.json",
  /** Belongs to the one session of an instance. */
  exit: "exit.json",
  output: "output",
} as const;
export const INSTANCE_FILE_BYTES = 16 * 1024;

function isBounded(figures: object): boolean {
  return Object.values(figures).every((each) => typeof each !== "number" || Math.abs(each) <= TOLD_MAX);
}
