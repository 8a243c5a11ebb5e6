import { z } from "zod";
import { operations } from "./operation.ts";
import { pageQuery, Time } from "./values.ts";

export const BuildStatus = z.enum(["pending", "building", "success", "failed", "timeout"]);

export const Build = z.object({
  id: z.uuid(),
  organizationId: z.string(),
  status: BuildStatus,
  region: z.string(),
  contextHash: z.string(),
  dockerfilePath: z.string(),
  imageUri: z.string().nullable(),
  logsUrl: z.string().nullable(),
  errorMessage: z.string().nullable(),
  contextSizeBytes: z.number().nullable(),
  imageSizeBytes: z.number().nullable(),
  buildDurationSeconds: z.number().nullable(),
  startedAt: Time.nullable(),
  completedAt: Time.nullable(),
  createdAt: Time,
  updatedAt: Time,
});
export type Build = z.infer<typeof Build>;

export const CreateUpload = z.object({ region: z.string().max(63).nullish() });
export type CreateUpload = z.infer<typeof CreateUpload>;

export const Upload = z.object({
  uploadId: z.uuid(),
  uploadUrl: z.string(),
  /** Go into the form as they are, before the part named `file`. */
  uploadFields: z.record(z.string(), z.string()),
  expiresAt: Time,
});
export type Upload = z.infer<typeof Upload>;

export const CreateBuild = z.object({
  uploadId: z.uuid(),
  region: z.string().max(63).nullish(),
  dockerfilePath: z.string().min(1).max(512).default("Dockerfile"),
});
export type CreateBuild = z.infer<typeof CreateBuild>;

export const BuildStarted = z.object({ build: Build, contextHash: z.string(), cached: z.boolean() });
export type BuildStarted = z.infer<typeof BuildStarted>;

export const BuildAnswer = z.object({ build: Build });
export type BuildAnswer = z.infer<typeof BuildAnswer>;

export const BuildLogsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(10_000).default(500),
  nextToken: z
    .string()
    .regex(/^[0-9]{1,10}$/)
    .optional(),
});
export type BuildLogsQuery = z.infer<typeof BuildLogsQuery>;

export const BuildLogs = z.object({ logs: z.array(z.string()), nextToken: z.string().optional() });
export type BuildLogs = z.infer<typeof BuildLogs>;

export const BuildListQuery = pageQuery({ limit: 20, maxLimit: 100 }).extend({
  status: BuildStatus.optional(),
  region: z.string().max(63).optional(),
  contextHash: z.string().max(64).optional(),
});
export type BuildListQuery = z.infer<typeof BuildListQuery>;

export const BuildList = z.object({
  builds: z.array(Build),
  total: z.number().int(),
  limit: z.number().int(),
  offset: z.number().int(),
});
export type BuildList = z.infer<typeof BuildList>;

const buildId = z.uuid();

export const buildOperations = operations("Builds", {
  createUpload: {
    id: "createUpload",
    summary: "Where to send a bot's folder",
    method: "POST",
    path: "/builds/upload-url",
    right: "manage",
    body: CreateUpload,
    answer: Upload,
  },
  create: {
    id: "createBuild",
    summary: "Build what was uploaded, or give the build that exists already",
    method: "POST",
    path: "/builds",
    right: "manage",
    body: CreateBuild,
    answer: BuildStarted,
    statuses: [200, 201],
  },
  list: {
    id: "listBuilds",
    summary: "Builds, newest first",
    method: "GET",
    path: "/builds",
    right: "view",
    query: BuildListQuery,
    answer: BuildList,
  },
  get: {
    id: "getBuild",
    summary: "One build",
    method: "GET",
    path: "/builds/:buildId",
    right: "view",
    params: { buildId },
    answer: BuildAnswer,
  },
  logs: {
    id: "getBuildLogs",
    summary: "What a build printed",
    method: "GET",
    path: "/builds/:buildId/logs",
    right: "view",
    params: { buildId },
    query: BuildLogsQuery,
    answer: BuildLogs,
  },
});
