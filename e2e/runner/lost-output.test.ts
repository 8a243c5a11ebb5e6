import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { within } from "../../testing/wait.ts";

test("a runner whose output is no longer read ends in order", async () => {
  await using runner = await startRunnerProcess({ bot: "examples/echo/bot.ts" });
  const exited = once(runner.process, "exit") as Promise<[number | null]>;
  runner.process.stdout?.destroy();
  runner.process.stderr?.destroy();
  const opened = new WebSocket(`${runner.url.replace("http", "ws")}/ws-client`); // makes it log a line
  opened.addEventListener("error", () => undefined);
  assert.deepEqual((await within(exited, 15_000, "exit"))[0], 0);
});
