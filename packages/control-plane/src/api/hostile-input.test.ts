import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { test } from "node:test";
import { size } from "../../../../testing/sizes.ts";
import { patientMs } from "../../../../testing/patience.ts";
import { startApiHarness, type ApiHarness } from "./testing/api-harness.ts";
import { mutations, ODD_VALUES, POLLUTION } from "./testing/mutations.ts";
import { fillPath, readOperations, type ListedOperation } from "./testing/read-operations.ts";

test("every operation answers odd bodies with what it documents", async (t) => {
  await using api = await startApiHarness();
  const agent = await api.client.agents.create({ serviceName: "parrot", image: "a/b:c" });
  const good = goodBodies(agent.desiredDeploymentId);
  using delay = watchDelay();
  for (const operation of await readOperations(api)) {
    if (!operation.bodySchema || isAlias(operation)) continue;
    const schema = operation.bodySchema;
    await t.test(`${operation.method} ${operation.path}`, async () => {
      const base = good[operation.operationId];
      for (const [at, { what, value }] of [...mutations(schema, base)].entries()) {
        if (what !== "valid" && at % EVERY !== 0) continue;
        const path = fillPath(operation.path, goodPath());
        const status = await send(api, operation, { what, path, body: renamed(value) });
        if (what === "valid" && base) assert.ok(status < 300, `${what} ${status}`);
      }
      for (const body of [
        '{"a":',
        "",
        "null",
        '"x"',
        "[".repeat(65) + "]".repeat(65),
        '{"a":1}{"b":2}',
        "\u0000",
      ])
        await send(api, operation, { what: body, path: fillPath(operation.path, goodPath()), text: body });
    });
  }
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  delay.check();
  assert.equal((await api.fetch("/healthz")).status, 200);
});

test("every operation answers odd queries and paths with what it documents", async (t) => {
  await using api = await startApiHarness();
  await api.client.agents.create({ serviceName: "parrot", image: "a/b:c" });
  const odd = [
    ...ODD_VALUES,
    ...POLLUTION,
    "1e3",
    "0x10",
    "-0",
    "NaN",
    "Infinity",
    "9".repeat(30),
    randomUUID(),
    "%",
    "..",
    "/",
  ];
  const texts = odd.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  for (const operation of await readOperations(api))
    await t.test(`${operation.method} ${operation.path}`, async () => {
      const parameters = (operation.parameters ?? []).filter(
        ({ name }) => name === "org" || !isAlias(operation),
      );
      for (const parameter of parameters)
        for (const [at, text] of texts.entries()) {
          if (at % EVERY !== 0) continue;
          if (text.length > 2_000) continue; // the request line has its own limit
          const what = `${parameter.name}=${text.slice(0, 40)}`;
          const values = goodPath();
          if (parameter.in === "path") {
            const path = fillPath(operation.path, { ...values, [parameter.name]: well(text) });
            await send(api, operation, { what, path });
          } else if (parameter.in === "header") {
            if (!/^[\x20-\x7e]*$/.test(text)) continue; // a header cannot hold it
            const path = fillPath(operation.path, values);
            await send(api, operation, { what, path, headers: { [parameter.name]: text } });
          } else {
            const path = `${fillPath(operation.path, values)}?${parameter.name}=${encodeURIComponent(well(text))}`;
            await send(api, operation, { what, path });
            await send(api, operation, { what, path: `${path}&${parameter.name}=2&__proto__[x]=1` });
          }
        }
    });
  assert.equal((await api.fetch("/healthz")).status, 200);
});

const EVERY = size(4, 1); // of the odd values

interface Odd {
  what: string;
  path: string;
  body?: unknown;
  text?: string;
  headers?: Record<string, string>;
}

async function send(api: ApiHarness, operation: ListedOperation, odd: Odd): Promise<number> {
  const isPublic = operation.security?.some((each) => "publicKey" in each) ?? false;
  const body = odd.text ?? (odd.body === undefined ? undefined : JSON.stringify(odd.body));
  const response = await api.fetch(odd.path, {
    method: operation.method,
    token: isPublic ? api.acme.publicKey : api.acme.privateKey,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...odd.headers },
    ...(body === undefined ? {} : { body }),
  });
  const name = `${operation.method} ${odd.path.slice(0, 100)} ${odd.what}`;
  assert.ok(response.status < 500, `${name} ${response.status}`);
  const isDocumented = Object.hasOwn(operation.responses, String(response.status));
  const isElsewhere = response.status === 404; // a path that the router reads differently
  assert.ok(isDocumented || isElsewhere, `${name} ${response.status} is not documented`);
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
    await response.body?.cancel();
    return response.status;
  }
  const text = await response.text();
  assert.doesNotMatch(text, /node_modules|\.ts:\d+|SQLITE|sqlite/, name);
  if (response.status < 400) return response.status;
  const answer = JSON.parse(text) as Record<string, unknown>;
  assert.ok(typeof answer["error"] === "string" && typeof answer["code"] === "string", name);
  return response.status;
}

/** Returns accepted bodies for operations whose schema alone does not describe them. */
function goodBodies(deploymentId: string): Record<string, object> {
  return {
    createAgent: { serviceName: NAME, image: "a/b:c", autoScaling: {}, vendorViva: {} },
    updateAgent: { maxSessionDuration: 60, autoScaling: {}, vendorViva: {} },
    updateService: { serviceName: "parrot", maxSessionDuration: 60 },
    rollBackAgent: { deploymentId },
    putSecrets: { secrets: [{ secretKey: "A", secretValue: "1" }] },
    changeProperties: { defaultRegion: "us-west" },
    createUpload: {},
    startSession: {},
  };
}

const NAME = "a-new-one";

/** Gives every agent a new name. */
function renamed(body: unknown): unknown {
  const isNew =
    typeof body === "object" && body !== null && "serviceName" in body && body.serviceName === NAME;
  return isNew ? { ...body, serviceName: `a${randomUUID()}` } : body;
}

function goodPath(): Record<string, string> {
  return {
    org: "acme",
    serviceName: "parrot",
    sessionId: randomUUID(),
    set: "fuzzed-set",
    secretKey: "A",
    buildId: randomUUID(),
    keyId: randomUUID(),
  };
}

/** Returns whether a route is another address of the same schemas and code. */
function isAlias({ operationId }: ListedOperation): boolean {
  return operationId.endsWith("InOrganization");
}

/** Replaces lone surrogates, which a URL cannot hold. */
function well(text: string): string {
  return text.toWellFormed();
}

const DELAY_MAX_MS = 500;

function watchDelay(): { check(): void; [Symbol.dispose](): void } {
  const histogram = monitorEventLoopDelay({ resolution: 20 });
  histogram.enable();
  return {
    check: () =>
      assert.ok(
        histogram.percentile(99.9) / 1e6 < patientMs(DELAY_MAX_MS),
        `${histogram.percentile(99.9) / 1e6} ms`,
      ),
    [Symbol.dispose]: () => void histogram.disable(),
  };
}
