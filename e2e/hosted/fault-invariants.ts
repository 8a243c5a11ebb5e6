import assert from "node:assert/strict";
import { until } from "../../testing/wait.ts";
import type { FaultService, SessionFacts } from "./fault-service.ts";

/** The answer a caller got: this key gave this session. */
export interface Reply {
  key: string;
  sessionId: string;
}

interface InstanceFacts {
  id: string;
  state: string;
  session_id: string | null;
}

const SETTLED_MS = 5_000;
const REFILLED_MS = 30_000; // booting a bot takes what the machine has to spare
const LIVE = "'requested', 'starting', 'ready', 'busy', 'draining'";

/** Resolves when nothing is half done any more; that must be within five seconds of the controller's return. */
export async function settled(faults: FaultService): Promise<void> {
  let open: string[] = [];
  await until(() => (open = unsettled(faults)).length === 0, SETTLED_MS, "settled service").catch(
    (error: unknown) => {
      throw new Error(`${String(error)}: ${open.join("; ")}`);
    },
  );
}

export async function refilled({ service }: FaultService, count: number): Promise<void> {
  const sql = "SELECT id FROM instances WHERE state = 'ready' AND session_id IS NULL";
  await until(() => service.rows(sql).length >= count, REFILLED_MS, `${count} idle instances`);
}

function unsettled(faults: FaultService): string[] {
  const { service } = faults;
  const halfway = service.rows<SessionFacts>(
    "SELECT * FROM sessions WHERE state IN ('starting', 'stopping')",
  );
  const instances = liveInstances(faults);
  const byId = new Map(instances.map((row) => [row.id, row]));
  const homeless = service
    .rows<SessionFacts>("SELECT * FROM sessions WHERE state = 'active'")
    .filter((row) => byId.get(row.instance_id ?? "")?.session_id !== row.id);
  const idle = instances.filter(
    ({ state, session_id }) =>
      state === "busy" &&
      service.rows("SELECT id FROM sessions WHERE id = ? AND state = 'active'", session_id ?? "").length ===
        0,
  );
  return [
    ...halfway.map(({ id, state }) => `session ${id} is ${state}`),
    ...homeless.map(({ id }) => `session ${id} has no instance`),
    ...idle.map(({ id }) => `instance ${id} is busy with nothing`),
    ...strays(faults).map((pid) => `process ${pid} belongs to no instance`),
  ];
}

/** Asserts what must hold at every moment: never more than `maxAgents`, no session twice, no bot twice. */
export function checkNow(faults: FaultService, { maxAgents }: { maxAgents: number }): void {
  const instances = liveInstances(faults);
  assert.ok(instances.length <= maxAgents, `I5: ${instances.length} instances`);
  const alive = faults.instancesAlive();
  assert.ok(alive.length <= maxAgents, `I5: ${alive.length} processes`);
  const bound = instances.flatMap(({ session_id }) => session_id ?? []);
  assert.equal(new Set(bound).size, bound.length, "I1: two instances of one session");
  const open = faults.service.rows<SessionFacts>(
    "SELECT * FROM sessions WHERE state IN ('starting', 'active', 'stopping')",
  );
  const hosts = open.map(({ instance_id }) => instance_id);
  assert.equal(new Set(hosts).size, hosts.length, "I1: two sessions on one instance");
  const started = faults.truth().flatMap((truth) => (truth.event === "started" ? [truth.sessionId] : []));
  assert.equal(new Set(started).size, started.length, "I2: a bot was started twice");
}

/** Asserts what must hold of every answer and of every session at the end. */
export function checkHistory(faults: FaultService, replies: Reply[]): void {
  const sessionOf = new Map<string, string>();
  for (const { key, sessionId } of replies) {
    assert.notEqual(faults.session(sessionId).active_at, null, "I6: a 200 means that it was active");
    assert.equal(sessionOf.get(key) ?? sessionId, sessionId, "I6: one key, one session");
    sessionOf.set(key, sessionId);
  }
  const lost = faults.service.rows<SessionFacts>("SELECT * FROM sessions WHERE end_reason = 'instance-lost'");
  assert.deepEqual(lost, [], "I8: the platform ends a session only by stop, deadline or loss");
}

function liveInstances({ service }: FaultService): InstanceFacts[] {
  return service.rows<InstanceFacts>(`SELECT * FROM instances WHERE state IN (${LIVE})`);
}

function strays(faults: FaultService): number[] {
  const live = new Set(liveInstances(faults).map(({ id }) => id));
  return faults.instancesAlive().flatMap(({ pid, id }) => (live.has(id) ? [] : [pid]));
}
