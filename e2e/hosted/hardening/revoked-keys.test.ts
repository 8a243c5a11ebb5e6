// Tokens of a key end with the key.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServiceProcess } from "../../harness/service-process.ts";
import { openSocket } from "../../harness/socket-client.ts";
import { pause } from "../../../testing/wait.ts";
import { ECHO_BOT, openCall, prepareCall } from "../hosted-calls.ts";

test("a token of a revoked key starts nothing", { timeout: 180_000 }, async () => {
  await using service = await startServiceProcess();
  await service.deploy({ name: "echo", files: ECHO_BOT });
  const { key, id } = await service.api.keys.create({ name: "short-lived", type: "public" });
  const call = await prepareCall(service, "echo", { key });
  await service.api.keys.revoke(id);
  await pause(1_000); // that long a key may be remembered
  await assert.rejects(openSocket(call.url), /403/);
  const [row] = service.rows<{ state: string }>("SELECT state FROM sessions WHERE id = ?", call.sessionId);
  assert.equal(row?.state, "pending");
  const other = await openCall(service, "echo");
  other.socket.socket.close();
});
