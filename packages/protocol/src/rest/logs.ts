import { z } from "zod";
import { operations } from "./operation.ts";
import { pageQuery, UnixSeconds } from "./values.ts";

const filters = {
  region: z.string().max(63).optional(),
  deploymentId: z.string().max(64).optional(),
  sessionId: z.string().max(64).optional(),
  query: z.string().max(1_000).optional(),
};

export const LogQuery = pageQuery({ limit: 10, maxLimit: 10_000 }).extend({
  ...filters,
  order: z.enum(["asc", "desc"]).default("desc"),
  startTime: UnixSeconds.optional(),
  endTime: UnixSeconds.optional(),
});
export type LogQuery = z.infer<typeof LogQuery>;

export const LogTailQuery = z.object(filters);
export type LogTailQuery = z.infer<typeof LogTailQuery>;

export const LogLine = z.object({
  log: z.string(),
  /** With nanoseconds. */
  timestamp: z.string(),
  deploymentId: z.string().nullish(),
  sessionId: z.string().nullish(),
  instanceId: z.string().optional(),
});
export type LogLine = z.infer<typeof LogLine>;

export const LogList = z.object({
  total: z.object({ value: z.number().int(), relation: z.enum(["eq", "gte"]) }),
  logs: z.array(LogLine),
});
export type LogList = z.infer<typeof LogList>;

export const logOperations = operations("Logs", {
  logs: {
    id: "listLogs",
    summary: "Lines that an agent's instances printed",
    method: "GET",
    path: "/agents/:serviceName/logs",
    right: "view",
    query: LogQuery,
    answer: LogList,
  },
  /** Ends with the signal, or when the service closes the stream. */
  tailLogs: {
    id: "tailLogs",
    summary: "The same as they are printed, as server-sent events; Last-Event-ID goes on after a line",
    method: "GET",
    path: "/agents/:serviceName/logs/tail",
    right: "view",
    query: LogTailQuery,
    headers: z.object({ "last-event-id": z.string().max(255).optional() }),
    answer: { events: LogLine },
  },
});

/** Things in an organisation that change without a request of the reader. */
export const ChangeKind = z.enum(["agents", "deployments", "instances", "sessions", "builds"]);
export type ChangeKind = z.infer<typeof ChangeKind>;

/** The changes since the previous event. The first event and heartbeats name none. */
export const ChangeEvent = z.object({ changed: z.array(ChangeKind) });
export type ChangeEvent = z.infer<typeof ChangeEvent>;

export const eventOperations = operations("Organisation", {
  /** Ends with the signal, or when the service closes the stream. */
  events: {
    id: "followEvents",
    summary: "What kinds of things change, as they do, as server-sent events",
    method: "GET",
    path: "/events",
    right: "view",
    answer: { events: ChangeEvent },
  },
});
