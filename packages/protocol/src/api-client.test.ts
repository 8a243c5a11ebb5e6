import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ApiError,
  createApiClient,
  type ApiClient,
  type ApiClientOptions,
  type LogEvent,
} from "./api-client.ts";

interface Asked {
  method: string;
  url: string;
  token: string | null;
  body: string;
}

/** A client of a service that gives these answers in turn, the last one for ever. */
function clientOf(
  answers: (() => Response)[],
  options: Partial<ApiClientOptions> = {},
): { client: ApiClient; asked: Asked[] } {
  const asked: Asked[] = [];
  const client = createApiClient({
    baseUrl: "https://service.example.com/v1/",
    token: "sk_x",
    ...options,
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const { method } = request;
      const token = request.headers.get("authorization");
      asked.push({ method, url: request.url, token, body: await request.text() });
      const answer = answers[Math.min(asked.length, answers.length) - 1];
      return answer?.() ?? Response.error();
    },
  });
  return { client, asked };
}

const later = (): Response => Response.json({}, { status: 503, headers: { "retry-after": "0" } });

test("reads are repeated when the service says later, changes are not", async () => {
  const reading = clientOf([later, later, () => Response.json({ regions: [] })]);
  assert.deepEqual(await reading.client.regions(), { regions: [] });
  assert.equal(reading.asked.length, 3);
  const waiting = clientOf([later]);
  await assert.rejects(waiting.client.regions(), { status: 503 });
  assert.equal(waiting.asked.length, 4);
  const changing = clientOf([later]);
  await assert.rejects(changing.client.agents.delete("a"), { status: 503, code: "503" });
  assert.equal(changing.asked.length, 1);
});

test("refusals keep their code and words", async () => {
  const body = { error: "Not found", code: "NOT_FOUND", detail: [{ loc: ["a"], msg: "b", type: "c" }] };
  const { client } = clientOf([() => Response.json(body, { status: 404 })]);
  const error: unknown = await client.agents.get("a").catch((reason: unknown) => reason);
  assert.ok(error instanceof ApiError);
  const { status, code, message, detail } = error;
  assert.deepEqual(
    { status, code, message, detail },
    { status: 404, code: "NOT_FOUND", message: "Not found", detail: body.detail },
  );
});

test("answers that are not what was promised are errors", async () => {
  const unreadable = clientOf([() => new Response("<html>", { status: 502 })]);
  await assert.rejects(unreadable.client.regions(), {
    status: 502,
    code: "502",
    message: "The service answered 502",
  });
  for (const answer of [() => new Response("<html>"), () => Response.json({ regions: 1 })]) {
    const { client } = clientOf([answer]);
    await assert.rejects(client.regions(), { name: "ApiError", code: "UNEXPECTED_ANSWER" });
  }
});

test("addresses, with and without an organisation", async () => {
  const cases: [(client: ApiClient) => Promise<unknown>, string, string][] = [
    [({ regions }) => regions(), "GET /regions", "GET /organizations/a%2Fb/regions"],
    [
      ({ agents }) => agents.list({ region: "x y" }),
      "GET /agents?region=x+y",
      "GET /organizations/a%2Fb/services?region=x+y",
    ],
    [({ agents }) => agents.get("n/m"), "GET /agents/n%2Fm", "GET /organizations/a%2Fb/services/n%2Fm"],
    [({ agents }) => agents.update("n", {}), "POST /agents/n", "PUT /organizations/a%2Fb/services"],
    [({ keys }) => keys.revoke("k"), "DELETE /keys/k", "DELETE /organizations/a%2Fb/apiKeys/k"],
    [({ sessions }) => sessions.start("n"), "POST /public/n/start", "POST /public/n/start"],
    [({ organizations }) => organizations(), "GET /organizations", "GET /organizations"],
    [({ user }) => user(), "GET /users", "GET /users"],
  ];
  for (const [call, plain, scoped] of cases)
    for (const [organization, expected] of [
      [undefined, plain],
      ["a/b", scoped],
    ] as const) {
      const { client, asked } = clientOf(
        [() => Response.json({}, { status: 404 })],
        organization ? { organization } : {},
      );
      await assert.rejects(call(client));
      const [{ method, url, token } = { method: "", url: "", token: "" }] = asked;
      assert.equal(`${method} ${url}`, expected.replace(" ", " https://service.example.com/v1"));
      assert.equal(token, "Bearer sk_x");
    }
  const { client, asked } = clientOf([() => Response.json({}, { status: 404 })], { organization: "acme" });
  await assert.rejects(client.authConfig());
  assert.equal(asked[0]?.url, "https://service.example.com/auth/config");
});

test("an archive goes where it was told to, without our token", async () => {
  const { client, asked } = clientOf([() => new Response(null, { status: 204 })]);
  const uploadFields = { key: "k", Policy: "p" };
  await client.builds.upload({
    uploadUrl: "https://files.example.com/u",
    uploadFields,
    file: new Blob(["x"]),
  });
  const [upload] = asked;
  assert.equal(upload?.url, "https://files.example.com/u");
  assert.equal(upload.token, null);
  const names = [...upload.body.matchAll(/name="(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(names, ["key", "Policy", "file"]);
});

test("a live log is read line by line, wherever the pieces are cut", async () => {
  const line = { log: "hüllo", timestamp: "t", deploymentId: "d" };
  const bytes = new TextEncoder().encode(
    `: hello\n\nid: 1\ndata: ${JSON.stringify(line)}\n\nid: 2\ndata: ${JSON.stringify(line)}\n\n`,
  );
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const { client } = clientOf([() => new Response(body)]);
  const events: LogEvent[] = [];
  for await (const event of client.agents.tailLogs("n")) events.push(event);
  assert.deepEqual(events, [
    { id: "1", line },
    { id: "2", line },
  ]);
});
