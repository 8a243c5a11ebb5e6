import { z } from "zod";
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
