// The service bounds the sessions that a caller with a public key can leave waiting.
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { startServiceProcess, type ServiceProcess } from "../../harness/service-process.ts";
import { tryUpgrade } from "../../harness/socket-client.ts";
import { patientMs } from "../../../testing/patience.ts";
import { until } from "../../../testing/wait.ts";
import { ECHO_BOT, openCall, prepareCall, start } from "../hosted-calls.ts";

const PER_KEY = 10;
const PER_MINUTE = 35;

test("a public key cannot pile up sessions that wait", { timeout: 120_000 }, async () => {
  await using service = await startServiceProcess({
    environment: {
      VOCALHOST_PENDING_PER_KEY: String(PER_KEY),
      VOCALHOST_STARTS_PER_MINUTE: String(PER_MINUTE),
    },
    timing: { socketTokenMs: patientMs(1_500) },
  });
  await service.deploy({ name: "echo", files: ECHO_BOT });
  const flood = await Promise.all(
    Array.from({ length: 40 }, () => start(service, "echo", { transport: "websocket" })),
  );
  const refused = flood.filter(({ status }) => status === 429);
  assert.equal(refused.length, 40 - PER_KEY / 2, "one caller has half of the key's places at most");
  for (const { headers } of refused) assert.ok(Number(headers.get("retry-after")) > 0);
  const codes = await Promise.all(
    refused.map(async (answer) => ((await answer.json()) as { code: string }).code),
  );
  assert.deepEqual(new Set(codes), new Set(["TOO_MANY_PENDING", "RATE_LIMITED"]));

  // Another key has places left, and its callers are served.
  const { key } = await service.api.keys.create({ name: "other", type: "public" });
  const { socket } = await openCall(service, "echo", { key });
  socket.socket.close();
  const states = () =>
    service.rows<{ state: string; body: string | null }>(
      "SELECT state, body FROM sessions WHERE state IN ('pending', 'expired')",
    );
  await until(() => states().every(({ state }) => state === "expired"), 10_000, "end of those that waited");
  assert.deepEqual(
    states().map(({ body }) => body),
    Array.from({ length: PER_KEY / 2 }, () => null),
  );
  await prepareCall(service, "echo", { key });
});

test("callers who are refused leave their places to the next, from wherever they call", async () => {
  await using service = await startServiceProcess({
    environment: { VOCALHOST_PENDING_PER_KEY: String(PER_KEY) },
  });
  await service.deploy({ name: "echo", files: ECHO_BOT, autoScaling: { minAgents: 1, maxAgents: 1 } });
  const held = await openCall(service, "echo");
  for (let rush = 0; rush < 2; rush++) {
    const starts = await Promise.all(Array.from({ length: PER_KEY }, () => startFrom("127.0.0.2", service)));
    const waiting = starts.filter(({ status }) => status === 200);
    assert.equal(waiting.length, PER_KEY / 2);
    for (const { status, retryAfterS } of starts)
      if (status === 429) assert.ok(retryAfterS > 290, "an unused place is free after five minutes");
    assert.equal((await startFrom("127.0.0.3", service)).status, 200, "another caller has places left");
    const came = await Promise.all(waiting.map(({ url }) => tryUpgrade(url)));
    assert.deepEqual(new Set(came.map(({ status }) => status)), new Set([429]));
  }
  const ends = service.rows<{ end_reason: string; caller: string | null }>(
    "SELECT DISTINCT end_reason, caller FROM sessions WHERE state = 'expired'",
  );
  assert.deepEqual(ends.map(Object.values), [["refused", null]]);

  held.socket.socket.close();
  await service.sessionEnded(held.sessionId);
  const { client } = await until(
    async () => {
      const { url, status } = await startFrom("127.0.0.2", service);
      assert.equal(status, 200);
      const upgrade = await tryUpgrade(url);
      return upgrade.status === 101 && upgrade;
    },
    10_000,
    "call after the rush",
  );
  client?.socket.close();
});

interface StartedFrom {
  status: number;
  retryAfterS: number;
  url: string;
}

/** A start over a connection of this address; all that begin with 127 are this machine. */
function startFrom(localAddress: string, service: ServiceProcess): Promise<StartedFrom> {
  const { promise, resolve, reject } = Promise.withResolvers<StartedFrom>();
  const authorization = `Bearer ${service.publicKey}`;
  const headers = { authorization, "content-type": "application/json" };
  const sent = request(`${service.apiUrl}/public/echo/start`, { method: "POST", localAddress, headers });
  sent.once("error", reject).once("response", (response) => {
    let text = "";
    response.on("data", (chunk: Buffer) => (text += String(chunk)));
    response.once("end", () => {
      const { wsUrl, token } = JSON.parse(text) as { wsUrl?: string; token?: string };
      const retryAfterS = Number(response.headers["retry-after"]);
      resolve({ status: response.statusCode ?? 0, retryAfterS, url: `${wsUrl}?token=${token}` });
    });
  });
  sent.end(JSON.stringify({ transport: "websocket" }));
  return promise;
}
