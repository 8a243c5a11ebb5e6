import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform } from "fastify-type-provider-zod";
import { toDocsPage, type OpenApiDocument } from "./docs-page.ts";

/** Collects every route added after it and serves the document. */
export async function installOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Vocalhost",
        version: "1.0.0",
        description: "Deploys voice agents and runs their sessions.",
      },
      servers: [{ url: "/" }],
      components: {
        securitySchemes: {
          privateKey: { type: "http", scheme: "bearer", description: "A private API key, sk_…" },
          webSession: {
            type: "http",
            scheme: "bearer",
            description: "What signing in gives; a cookie in the dashboard",
          },
          publicKey: { type: "http", scheme: "bearer", description: "A public API key, pk_…" },
        },
      },
    },
    // Other paths are for the gateway, the operator or the dashboard, and are not part of the published interface.
    transform: (route) =>
      route.url.startsWith("/v1/")
        ? jsonSchemaTransform(route)
        : { ...jsonSchemaTransform(route), schema: { hide: true } },
  });
}

export function mountOpenApi(app: FastifyInstance): void {
  const read = once(() => app.swagger() as unknown as OpenApiDocument);
  const page = once(() => toDocsPage(read()));
  app.get("/v1/openapi.json", { schema: { hide: true } }, async () => read());
  app.get("/v1/docs", { schema: { hide: true } }, async (_request, reply) => {
    reply.header(
      "content-security-policy",
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    );
    return reply.type("text/html; charset=utf-8").send(page());
  });
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
