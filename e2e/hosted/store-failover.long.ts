// The primary of a replicated Postgres dies and its standby takes over behind the same address: what was promised is still
// there, calls go on, and each is billed once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openPostgresStore } from "../../packages/store/src/postgres.ts";
import type { Store } from "../../packages/store/src/store.ts";
import {
  postgresIsMissing,
  startTestPostgres,
  type TestPostgres,
} from "../../packages/store/src/testing/test-postgres.ts";
import { until } from "../../testing/wait.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { keepTalking } from "../harness/talk.ts";
import { openVirtualAddress } from "../harness/virtual-address.ts";
import { ECHO_BOT, openCall, start } from "./hosted-calls.ts";

const AGENT = "echo";
const BILLED_MS = 1_200; // shorter ones cost nothing
const PROMISED = 5; // before the primary dies amidst the next
const BACK_MS = 10_000;
const ENDED_MS = 30_000;

test("a standby takes over from a primary that died", { skip: postgresIsMissing() }, async (context) => {
  await using stack = new AsyncDisposableStack();
  const primary = stack.use(await startTestPostgres());
  const standby = stack.use(await startTestPostgres({ standbyOf: primary }));
  await replicateSynchronously(primary);
  const address = stack.use(await openVirtualAddress(primary.port));
  const url = new URL(primary.url);
  url.port = String(address.port);
  const service = stack.use(await startServiceProcess({ environment: { VOCALHOST_DATABASE_URL: url.href } }));
  const autoScaling = { minAgents: 2, maxAgents: 6 };
  await service.deploy({ name: AGENT, files: ECHO_BOT, autoScaling, vendorViva: { audioFilter: "tel" } });
  const controller = service.pid("controller");

  const over = await talk(service);
  await over.hangUp();
  await until(() => hasEnded(service, over.sessionId), ENDED_MS, "end of the first call");
  const [throughout, endsMeanwhile] = [await talk(service), await talk(service)];

  const promised: string[] = [];
  const refused = promiseUntilRefused(service, promised);
  await until(() => promised.length >= PROMISED, 15_000, "promised sessions");
  await primary.stop("immediate");
  await refused;
  await endsMeanwhile.hangUp(); // while there is nowhere to write it
  await standby.promote();
  const promotedMs = performance.now();
  address.moveTo(standby.port);
  const next = await until(
    async () => {
      const answer = await start(service, AGENT);
      return answer.status === 200 && ((await answer.json()) as { sessionId: string }).sessionId;
    },
    BACK_MS,
    "start on the standby",
  );
  const backMs = Math.round(performance.now() - promotedMs);
  context.diagnostic(`back after ${backMs} ms, ${promised.length} sessions promised until the primary died`);

  throughout.restart();
  await throughout.heard();
  await throughout.hangUp();
  const calls = [over.sessionId, throughout.sessionId, endsMeanwhile.sessionId];
  for (const id of calls) await until(() => hasEnded(service, id), ENDED_MS, `end of session ${id}`);
  assert.equal(service.pid("controller"), controller, "no process had to be started again");

  await using store = await openPostgresStore({ url: standby.url, connections: 1 });
  for (const id of calls) await checkBilledOnce(store, id);
  for (const id of [...promised, next]) await sessionRow(store, id); // it is there
});

/** From now on no commit is answered before the standby has it. */
async function replicateSynchronously(primary: TestPostgres): Promise<void> {
  await primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
  const isSynchronous = async (): Promise<boolean> =>
    (await primary.ask("SELECT sync_state FROM pg_stat_replication")) === "sync";
  await until(isSynchronous, 15_000, "synchronous standby");
}

interface TalkingCall {
  sessionId: string;
  restart(): void;
  heard(): Promise<unknown>;
  hangUp(): Promise<void>;
}

/** Resolves when it has lasted long enough to cost something. */
async function talk(service: ServiceProcess): Promise<TalkingCall> {
  const { sessionId, socket } = await openCall(service, AGENT);
  const stop = keepTalking(socket);
  const heard = (): Promise<unknown> => until(() => socket.heardMs > BILLED_MS, 15_000, "own voice back");
  await heard();
  return {
    sessionId,
    restart: () => socket.restart(),
    heard,
    async hangUp() {
      await stop();
      socket.socket.close();
    },
  };
}

/** One start after the other until the database is gone; adds those that were answered with a session. */
async function promiseUntilRefused(service: ServiceProcess, ids: string[]): Promise<void> {
  for (;;) {
    const answer = await start(service, AGENT, { transport: "websocket" });
    await answer.arrayBuffer();
    if (answer.status === 503) return;
    assert.equal(answer.status, 200);
    ids.push(answer.headers.get("x-vocalhost-session-id") ?? "");
  }
}

async function hasEnded(service: ServiceProcess, id: string): Promise<boolean> {
  const session = await service.api.sessions.get(AGENT, id).catch(() => undefined);
  return session?.status === "ended";
}

async function checkBilledOnce(store: Store, id: string): Promise<void> {
  const { seconds, endReason } = await sessionRow(store, id);
  assert.equal(endReason, "client-left");
  assert.ok((seconds ?? 0) >= 1);
  const usage = await store.db.selectFrom("usage").select("seconds").where("sessionId", "=", id).execute();
  assert.deepEqual(usage, [{ seconds }]);
}

function sessionRow(store: Store, id: string) {
  return store.db
    .selectFrom("sessions")
    .select(["endReason", "seconds"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
}
