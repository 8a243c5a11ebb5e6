import {
  describeSchema,
  type JsonSchema,
  type OpenApiDocument,
  type OpenApiOperation,
} from "../../packages/control-plane/src/api/docs-page.ts";
import { startApiHarness } from "../../packages/control-plane/src/api/testing/api-harness.ts";
import { cell } from "./table.ts";

const NAMED_ORGANIZATION = "/v1/organizations/{org}";

/** Returns a page with every operation, from the document that the service serves at `/v1/openapi.json`. */
export async function restReference(): Promise<string> {
  await using api = await startApiHarness();
  const response = await api.fetch("/v1/openapi.json");
  const { paths } = (await response.json()) as OpenApiDocument;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const own = operations.filter(({ path }) => !path.startsWith(NAMED_ORGANIZATION));
  const named = operations.filter(({ path }) => path.startsWith(NAMED_ORGANIZATION));
  const tags = [...new Set(own.map(({ operation }) => operation.tags?.[0] ?? ""))];
  const sections = tags.map((tag) => {
    const tagged = own.filter(({ operation }) => operation.tags?.[0] === tag);
    return [`## ${titled(tag)}`, ...tagged.map(describeOperation)].join("\n\n");
  });
  const rows = named.map(
    ({ method, path, operation }) => `| \`${method} ${path}\` | ${cell(operation.summary ?? "")} |`,
  );
  return `# All REST operations

Generated from the service's OpenAPI document, which every service serves at \`/v1/openapi.json\`. The page
[REST interface](../hosted/rest.md) explains credentials, errors and the order of requests.

${sections.join("\n\n")}

## For a named organisation

| Operation | |
| --- | --- |
${rows.join("\n")}
`;
}

interface Listed {
  path: string;
  method: string;
  operation: OpenApiOperation;
}

function describeOperation({ path, method, operation }: Listed): string {
  const needs = (operation.security ?? []).flatMap((each) => Object.keys(each)).map((each) => `\`${each}\``);
  const parameters = (operation.parameters ?? []).map(({ name, in: place, required, schema }) =>
    row(name, schema, `${place}${required ? ", required" : ""}`),
  );
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const answers = Object.entries(operation.responses);
  const answer = answers.find(([status]) => Number(status) < 400);
  const answered = Object.values(answer?.[1].content ?? {})[0]?.schema;
  const refusals = answers.flatMap(([status]) => (Number(status) < 400 ? [] : [status]));
  return [
    `### ${method} ${path.replaceAll(/[{}]/g, (brace) => `\\${brace}`)}`,
    `${cell(operation.summary ?? "")}.${needs.length > 0 ? ` Credential: ${needs.join(" or ")}.` : ""}`,
    ...(parameters.length > 0 ? [table("Parameter", parameters)] : []),
    ...(body ? [table("Body", rowsOf(body))] : []),
    ...(answered ? [table(`Answer ${answer?.[0]}`, rowsOf(answered))] : []),
    refusals.length > 0 ? `Refusals: ${refusals.join(", ")}.` : "",
  ].join("\n\n");
}

function table(title: string, rows: string[]): string {
  return `| ${title} | Type | |\n| --- | --- | --- |\n${rows.join("\n")}`;
}

function rowsOf(schema: JsonSchema): string[] {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return [row("", schema, "")];
  return properties.map(([name, value]) =>
    row(name, value, schema.required?.includes(name) ? "required" : ""),
  );
}

function row(name: string, schema: JsonSchema, note: string): string {
  return `| ${name === "" ? "" : `\`${name}\``} | ${code(describeSchema(schema))} | ${note} |`;
}

function code(text: string): string {
  return `<code v-pre>${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("|", "&#124;")}</code>`;
}

function titled(tag: string): string {
  return `${tag.charAt(0).toUpperCase()}${tag.slice(1)}`;
}
