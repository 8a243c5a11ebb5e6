import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "@vocalhost/base/log";
import { createApiApp } from "./create-api-app.ts";
import type { OpenApiDocument } from "./docs-page.ts";
import { installOpenApi, mountOpenApi } from "./openapi.ts";
import { startApiHarness } from "./testing/api-harness.ts";

test("the document names every operation, who may, and every answer", async () => {
  await using api = await startApiHarness();
  const document = (await (await api.fetch("/v1/openapi.json")).json()) as OpenApiDocument & {
    openapi: string;
  };
  assert.equal(document.openapi, "3.1.0");
  assert.equal(document.info.version, "1.0.0");
  const ids = new Set<string>();
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method} ${path}`;
      assert.ok(path.startsWith("/v1/"), name);
      assert.ok(operation.operationId && !ids.has(operation.operationId), name);
      ids.add(operation.operationId);
      assert.ok(operation.summary && operation.tags?.length === 1 && operation.security?.length, name);
      const statuses = Object.keys(operation.responses);
      assert.ok(
        statuses.some((status) => status.startsWith("2")),
        name,
      );
      for (const status of ["401", "403", "500"]) assert.ok(statuses.includes(status), `${name} ${status}`);
      for (const [status, { content }] of Object.entries(operation.responses)) {
        const [schema] = Object.values(content ?? {}).map((each) => each.schema);
        assert.ok(schema && Object.keys(schema).length > 0, `${name} ${status}`);
      }
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      const described = (operation.parameters ?? []).filter((each) => each.in === "path");
      assert.deepEqual(new Set(described.map((each) => each.name)), new Set(names), name);
    }
  assert.ok(ids.size > 50, String(ids.size));
});

test("the page can be read without scripts or anything from elsewhere", async () => {
  await using api = await startApiHarness();
  const response = await api.fetch("/v1/docs");
  const page = await response.text();
  assert.match(response.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(page, /POST \/v1\/agents\/\{serviceName\}/);
  assert.match(page, /GET \/v1\/organizations\/\{org\}\/services/);
  assert.doesNotMatch(page, /<script|https?:\/\//);
});

test("what is not of the public interface is not in the document", async () => {
  const app = createApiApp(silentLog);
  await installOpenApi(app);
  app.post("/internal/session-route", async () => ({}));
  app.get("/v1/seen", async () => ({}));
  mountOpenApi(app);
  await app.ready();
  const { paths } = (await app.inject("/v1/openapi.json")).json<OpenApiDocument>();
  assert.deepEqual(Object.keys(paths), ["/v1/seen"]);
});
