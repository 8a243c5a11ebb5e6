import { buildOperations } from "@vocalhost/protocol";
import { originOf } from "./admit-request.ts";
import { handle, type Handled } from "./operation.ts";
import type { ApiPorts } from "./ports.ts";
import { uploadPath } from "./uploads.ts";

export function handleBuilds({ builds }: ApiPorts): Handled[] {
  return handle(buildOperations)({
    createUpload: async ({ organizationId, body, actor, request }) => {
      const input = { region: body.region ?? undefined, actor };
      const upload = await builds.createUpload(organizationId, input);
      return { ...upload, uploadUrl: originOf(request) + uploadPath(upload.uploadId) };
    },
    create: async ({ organizationId, body, actor, reply }) => {
      const started = await builds.create(organizationId, { ...body, actor });
      if (!started.cached) reply.code(201);
      return started;
    },
    list: async ({ organizationId, query }) => ({
      ...(await builds.list(organizationId, query)),
      limit: query.limit,
      offset: query.offset,
    }),
    get: async ({ organizationId, params }) => ({
      build: await builds.read(organizationId, params.buildId),
    }),
    logs: async ({ organizationId, params, query }) =>
      builds.readLogs(organizationId, {
        buildId: params.buildId,
        limit: query.limit,
        nextToken: query.nextToken,
      }),
  });
}
