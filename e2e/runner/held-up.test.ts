import assert from "node:assert/strict";
import { after, test } from "node:test";
import { callBot, freePeerClients } from "../harness/peer-client.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { until } from "../../testing/wait.ts";

const CALLERS = 5; // which of two packets is told first is chance
const HELD_UP_PACKETS = 150; // three seconds

after(() => freePeerClients());

test("callers who hang up while the machine is held up have left, and are not waited for", async () => {
  await using runner = await startRunnerProcess({ bot: "examples/echo/bot.ts" });
  const callers = await Promise.all(Array.from({ length: CALLERS }, () => callBot({ port: runner.port })));
  const { pid } = runner.process;
  assert(pid !== undefined);
  process.kill(pid, "SIGSTOP");
  try {
    await Promise.all(callers.map((caller) => caller.speak(HELD_UP_PACKETS, "tone")));
    for (const caller of callers) caller.close();
  } finally {
    process.kill(pid, "SIGCONT");
  }
  const reasons = await until(
    () => {
      const ends = [...runner.output().matchAll(/session ended session=\S+ reason=(\S+)/g)];
      return ends.length === CALLERS && ends.map(([, reason]) => reason);
    },
    60_000,
    "end of every session",
  );
  assert.deepEqual(new Set(reasons), new Set(["client-left"]));
});
