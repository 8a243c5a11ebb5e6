// A secret value as long as any may be is as secret as a short one, and nothing breaks over it.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { startServiceProcess } from "../../harness/service-process.ts";
import { until } from "../../../testing/wait.ts";
import { openCall } from "../hosted-calls.ts";

const PRINTING_BOT = {
  "bot.ts": `export async function bot({ signal }) {
    console.log("the value is " + process.env.LONG);
    console.log("and this is the end");
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }`,
};

test("a value of 32,768 characters is hidden where it is printed, and survives a restart", async () => {
  const value = randomBytes(24 * 1024).toString("base64");
  await using service = await startServiceProcess();
  await service.api.secrets.put("long-set", { secrets: [{ secretKey: "LONG", secretValue: value }] });
  const ready = async (): Promise<boolean> => (await service.api.secrets.get("long-set")).status === "ready";
  await until(ready, 10_000, "provisioned secrets");
  await service.deploy({ name: "keeper", files: PRINTING_BOT, secretSet: "long-set" });

  const { socket, sessionId } = await openCall(service, "keeper");
  const lines = await until(
    async () => {
      const { logs } = await service.api.agents.logs("keeper", { sessionId, limit: 100 });
      return logs.some(({ log }) => log.includes("this is the end")) && logs.map(({ log }) => log);
    },
    10_000,
    "what was printed",
  );
  socket.socket.close();
  assert.ok(lines.includes("the value is [redacted]"), lines.join("\n").slice(0, 500));
  await service.sessionEnded(sessionId);

  await service.replaceController();
  const again = await openCall(service, "keeper");
  again.socket.socket.close();
  assert.doesNotMatch(service.output(), /reconciling failed|cannot be collected|step failed/);
  for (let at = 0; at + 64 <= value.length; at += 64)
    assert.ok(!service.output().includes(value.slice(at, at + 64)), "a part of the value is in the log");
});
