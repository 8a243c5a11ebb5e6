import type { FastifyInstance } from "fastify";
import type { ApiPorts } from "./ports.ts";

interface WebhookRequest {
  Params: { organization: string; serviceName: string };
  Body: string | undefined;
}

const WEBHOOK_MAX_BYTES = 64 * 1024;

/**
 * Adds the webhooks for phone calls into rooms of Daily and LiveKit servers, which are admitted by their signature.
 */
export function mountDialIn(app: FastifyInstance, { takeCall }: Pick<ApiPorts, "takeCall">): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Signatures cover the exact bytes of the body.
    scope.addContentTypeParser(
      "*",
      { parseAs: "string", bodyLimit: WEBHOOK_MAX_BYTES },
      (_request, body, done) => done(null, body),
    );
    scope.post<WebhookRequest>(
      "/v1/public/webhooks/:organization/:serviceName/dialin",
      { schema: { hide: true } },
      async (request) => {
        const { organization: organizationName, serviceName: agentName } = request.params;
        const { headers, body: rawBody = "" } = request;
        const answer = await takeCall({ organizationName, agentName, rawBody, headers });
        return answer ?? { status: "OK" };
      },
    );
  });
}
