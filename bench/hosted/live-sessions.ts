// The cost of many sessions that only continue: heartbeats, liveness and reconcile passes. The instances pretend.
import type { Benchmark, Row } from "../report/row.ts";
import { figure } from "../report/statistics.ts";
import { watchFor } from "./pretended/live.ts";
import { freeAgents, startPretendedService, type PretendedService } from "./pretended/service.ts";

const SIZES = [100, 1_000];
const CALLERS = 5;

export const liveSessions: Benchmark = {
  name: "live-sessions",
  about: "the controller with many live sessions on instances that only pretend …",
  async run() {
    await using pretended = await startPretendedService();
    const rows: Row[] = [];
    let live = 0;
    for (const size of SIZES) {
      await startSessions(pretended, size - live);
      live = size;
      const seen = await watchFor(pretended);
      rows.push({
        what: `controller, ${size} live sessions, pretended instances, Postgres`,
        measured: `${figure(seen.controllerShare * 100)} % of a core, ${figure(seen.memoryMb)} MB RSS`,
        note:
          `${figure(seen.statementsPerSecond)} statements a second, Postgres ${figure(seen.postgresShare * 100)} % of a core, ` +
          `a look at everything ${figure(seen.passMs)} ms, ${figure(seen.passesPerSecond)} a second`,
      });
    }
    return rows;
  },
};

async function startSessions(pretended: PretendedService, count: number): Promise<void> {
  await pretended.fill(count);
  const free = (await freeAgents(pretended)).slice(0, count);
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (let name = free.shift(); name !== undefined; name = free.shift())
        await pretended.service.publicApi.sessions.start(name, { transport: "webrtc" });
    }),
  );
}
