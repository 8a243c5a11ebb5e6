// What a caller with a public key can make the service keep is bounded.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServiceProcess } from "../../harness/service-process.ts";
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
  assert.equal(refused.length, 40 - PER_KEY);
  for (const { headers } of refused) assert.ok(Number(headers.get("retry-after")) > 0);
  const codes = await Promise.all(
    refused.map(async (answer) => ((await answer.json()) as { code: string }).code),
  );
  assert.deepEqual(new Set(codes), new Set(["TOO_MANY_PENDING", "RATE_LIMITED"]));

  // Another key has places left, and whoever comes is served.
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
    Array.from({ length: PER_KEY }, () => null),
  );
  await prepareCall(service, "echo", { key });
});
