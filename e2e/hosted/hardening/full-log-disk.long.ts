// The service writes its log into a file, and the disk of that file is full: nothing ends, and it says what it lost.
import assert from "node:assert/strict";
import { appendFileSync, existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fillDisk, mountIsMissing, mountSmallDisk } from "../../../testing/small-disk.ts";
import { until } from "../../../testing/wait.ts";
import { startServiceProcess } from "../../harness/service-process.ts";
import { keepTalking } from "../../harness/talk.ts";
import { ECHO_BOT, openCall } from "../hosted-calls.ts";

const CALLS = 4;
const PAGE_BYTES = 4_096;
const TAKEN_FOR =
  /"process":"(\w+)".*"code":"ENOSPC","lost":\d+,"msg":"log could not be written for a while"/;
/** Runs a program whose output goes into a file, and shows what the file gets. */
const INTO_FILE = `
  touch "$LOG_FILE"
  tail -n +1 -f --pid=$$ "$LOG_FILE" &
  exec "$@" >>"$LOG_FILE" 2>&1`;

/** Lines would still find place behind the last one. */
function fillLastPage(file: string): void {
  appendFileSync(file, "\n".repeat(PAGE_BYTES - (statSync(file).size % PAGE_BYTES)));
  assert.throws(() => appendFileSync(file, "\n"), { code: "ENOSPC" });
}

test(
  "with the log's disk full calls go on, a dead controller comes back, and nothing is lost unsaid",
  {
    skip: mountIsMissing(),
  },
  async () => {
    using disk = mountSmallDisk("8m");
    await using service = await startServiceProcess({
      within: ["bash", "-c", INTO_FILE, "into-file"],
      environment: { LOG_FILE: join(disk.folder, "log") },
    });
    await service.deploy({ name: "echo", files: ECHO_BOT, autoScaling: { minAgents: 1, maxAgents: 6 } });
    const calls = [];
    for (let count = 0; count < CALLS; count += 1) calls.push(await openCall(service, "echo"));
    const talking = calls.map(({ socket }) => keepTalking(socket));
    const [gateway, controller] = [service.pid("gateway"), service.pid("controller")];
    fillDisk(disk.folder, "filler");
    fillLastPage(join(disk.folder, "log"));

    process.kill(controller, "SIGKILL"); // supervisor, gateway and the next controller all have something to say
    await until(() => !existsSync(`/proc/${controller}`), 10_000, "controller gone");
    const isBack = () =>
      service.api.sessions.list("echo").then(
        () => true,
        () => false,
      );
    await until(isBack, 30_000, "next controller");
    const next = await openCall(service, "echo");
    next.socket.socket.close();
    for (const { socket } of calls) socket.restart();
    for (const { socket } of calls) await until(() => socket.heardMs > 500, 15_000, "own voice back");

    rmSync(join(disk.folder, "filler"));
    const told = await until(
      () => {
        const lines = service.output().split("\n");
        const processes = new Set(lines.flatMap((line) => TAKEN_FOR.exec(line)?.[1] ?? []));
        return processes.has("supervisor") && processes.has("controller") && processes;
      },
      20_000,
      "what was lost",
    );
    assert.ok(told.size >= 2);
    assert.match(service.output(), /"name":"controller".*"msg":"process ended, starting it again"/); // it waited for its turn
    assert.equal(service.pid("gateway"), gateway);
    const last = await openCall(service, "echo");
    last.socket.socket.close();
    for (const stop of talking) await stop();
    for (const { socket } of calls) assert.equal(socket.socket.readyState, socket.socket.OPEN);
  },
);
