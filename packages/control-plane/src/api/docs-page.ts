/** The parts of an OpenAPI document that the page shows. */
export interface OpenApiDocument {
  info: { title: string; version: string; description?: string };
  paths: Record<string, Record<string, OpenApiOperation>>;
}

export interface OpenApiOperation {
  operationId: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; schema: JsonSchema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, { description?: string; content?: Record<string, { schema: JsonSchema }> }>;
}

export interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  default?: unknown;
  additionalProperties?: boolean | JsonSchema;
}

/** Returns a readable page without scripts. */
export function toDocsPage({ info, paths }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const own = operations.filter(({ path }) => !path.startsWith("/v1/organizations/{org}"));
  const aliases = operations.filter(({ path }) => path.startsWith("/v1/organizations/{org}"));
  const tags = [...new Set(own.map(({ operation }) => operation.tags?.[0] ?? ""))];
  const sections = tags.map(
    (tag) =>
      `<h2>${escape(tag)}</h2>${own
        .filter(({ operation }) => operation.tags?.[0] === tag)
        .map(section)
        .join("")}`,
  );
  const list = aliases.map(
    ({ path, method, operation }) =>
      `<li><code>${method.toUpperCase()} ${escape(path)}</code> ${escape(operation.summary ?? "")}</li>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(info.title)} REST interface</title><style>${STYLE}</style></head><body>
<h1>${escape(info.title)} REST interface ${escape(info.version)}</h1>
<p>${escape(info.description ?? "")} The same as data: <a href="/v1/openapi.json">openapi.json</a>.</p>
${sections.join("\n")}
<h2>For a named organisation</h2><ul>${list.join("")}</ul></body></html>`;
}

interface Listed {
  path: string;
  method: string;
  operation: OpenApiOperation;
}

function section({ path, method, operation }: Listed): string {
  const parameters = (operation.parameters ?? []).map(({ name, in: place, required, schema }) =>
    row([name, place, describeSchema(schema), required ? "required" : ""]),
  );
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const needs = (operation.security ?? []).flatMap((each) => Object.keys(each)).join(" or ");
  const answers = Object.entries(operation.responses).map(
    ([status, { content }]) =>
      `<li><b>${status}</b> ${Number(status) < 400 ? schemaText(Object.values(content ?? {})[0]?.schema) : ""}</li>`,
  );
  return `<section id="${escape(operation.operationId)}"><h3><code>${method.toUpperCase()} ${escape(path)}</code></h3>
<p>${escape(operation.summary ?? "")}${needs === "" ? "" : ` <i>(${escape(needs)})</i>`}</p>
${parameters.length > 0 ? `<table>${parameters.join("")}</table>` : ""}
${body ? `<p>Body</p>${schemaText(body)}` : ""}<p>Answers</p><ul>${answers.join("")}</ul></section>`;
}

function schemaText(schema: JsonSchema | undefined): string {
  if (!schema) return "";
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return `<code>${escape(describeSchema(schema))}</code>`;
  const rows = properties.map(([name, value]) =>
    row([name, describeSchema(value), schema.required?.includes(name) ? "required" : ""]),
  );
  return `<table>${rows.join("")}</table>`;
}

const DEPTH_MAX = 4;

export function describeSchema(schema: JsonSchema, depth = 0): string {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((choice) => describeSchema(choice, depth)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") return `${describeSchema(schema.items ?? {}, depth + 1)}[]`;
  if (schema.type === "object" && schema.properties && depth < DEPTH_MAX) {
    const inner = Object.entries(schema.properties).map(
      ([name, value]) =>
        `${name}${schema.required?.includes(name) ? "" : "?"}: ${describeSchema(value, depth + 1)}`,
    );
    return `{ ${inner.join(", ")} }`;
  }
  const type = Array.isArray(schema.type) ? schema.type.join(" | ") : (schema.type ?? "any");
  return schema.format === undefined ? type : `${type} (${schema.format})`;
}

function row(cells: string[]): string {
  return `<tr>${cells.map((cell) => `<td>${escape(cell)}</td>`).join("")}</tr>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1d1d1f;background:#fff}
code{font:13px ui-monospace,monospace}h2{margin-top:2.5rem;border-bottom:1px solid #ddd}section{margin:1.5rem 0}
table{border-collapse:collapse;margin:.5rem 0}td{border:1px solid #ddd;padding:.2rem .5rem;vertical-align:top;overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){body{background:#141416;color:#e8e8ea}td,h2{border-color:#3a3a3e}a{color:#8ab4ff}}`;
