import type { JsonSchema, OpenApiDocument, OpenApiOperation } from "../docs-page.ts";
import type { ApiHarness } from "./api-harness.ts";

export interface ListedOperation extends OpenApiOperation {
  method: string;
  path: string;
  bodySchema: JsonSchema | undefined;
}

/** Returns every operation in the service's OpenAPI document. */
export async function readOperations(api: ApiHarness): Promise<ListedOperation[]> {
  const document = (await (await api.fetch("/v1/openapi.json")).json()) as OpenApiDocument;
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      bodySchema: operation.requestBody?.content["application/json"]?.schema,
    })),
  );
}

export function fillPath(path: string, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? "absent"));
}
