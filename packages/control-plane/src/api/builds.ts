import {
  BuildAnswer,
  BuildList,
  BuildListQuery,
  BuildLogs,
  BuildLogsQuery,
  BuildStarted,
  CreateBuild,
  CreateUpload,
  Upload,
} from "@vocalhost/protocol";
import { z } from "zod";
import { originOf } from "./admit-request.ts";
import { defineOperation, type Operation } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";
import { uploadPath } from "./uploads.ts";

const tag = "Builds";
const BuildParams = z.object({ buildId: z.uuid() });

export function buildOperations({ builds }: ApiPorts): Operation[] {
  return [
    defineOperation({
      id: "createUpload",
      tag,
      summary: "Where to send a bot's folder",
      method: "POST",
      path: "/builds/upload-url",
      right: "manage",
      body: CreateUpload,
      answers: { 200: Upload },
      run: async ({ organizationId, body, actor, request }) => {
        const input = { region: body.region ?? undefined, actor };
        const upload = await builds.createUpload(organizationId, input);
        return { ...upload, uploadUrl: originOf(request) + uploadPath(upload.uploadId) };
      },
    }),
    defineOperation({
      id: "createBuild",
      tag,
      summary: "Build what was uploaded, or give the build that exists already",
      method: "POST",
      path: "/builds",
      right: "manage",
      body: CreateBuild,
      answers: { 200: BuildStarted, 201: BuildStarted },
      run: async ({ organizationId, body, actor, reply }) => {
        const started = await builds.create(organizationId, { ...body, actor });
        reply.code(started.cached ? 200 : 201);
        return started;
      },
    }),
    defineOperation({
      id: "listBuilds",
      tag,
      summary: "Builds, newest first",
      method: "GET",
      path: "/builds",
      right: "view",
      query: BuildListQuery,
      answers: { 200: BuildList },
      run: async ({ organizationId, query }) => ({
        ...(await builds.list(organizationId, query)),
        limit: query.limit,
        offset: query.offset,
      }),
    }),
    defineOperation({
      id: "getBuild",
      tag,
      summary: "One build",
      method: "GET",
      path: "/builds/:buildId",
      right: "view",
      params: BuildParams,
      answers: { 200: BuildAnswer },
      run: async ({ organizationId, params }) => ({
        build: await builds.read(organizationId, params.buildId),
      }),
    }),
    defineOperation({
      id: "getBuildLogs",
      tag,
      summary: "What a build printed",
      method: "GET",
      path: "/builds/:buildId/logs",
      right: "view",
      params: BuildParams,
      query: BuildLogsQuery,
      answers: { 200: BuildLogs },
      run: async ({ organizationId, params, query }) =>
        builds.readLogs(organizationId, {
          buildId: params.buildId,
          limit: query.limit,
          nextToken: query.nextToken,
        }),
    }),
  ];
}
