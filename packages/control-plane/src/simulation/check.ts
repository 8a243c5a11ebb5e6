import { BOUND_SESSION_STATES, LIVE_INSTANCE_STATES } from "../pools/instance-state.ts";
import { isTerminal } from "../sessions/session-state.ts";
import type { Store } from "@vocalhost/store/store";
import type { SessionRow } from "@vocalhost/store/schema";
import { lieOf, type BotRun, type Host } from "./host.ts";
import { EPOCH_START_MS } from "./virtual-time.ts";

const HOST_LOST_TOLERANCE_S = 16;
const SEEN_LATE_S = 12; // a pass every four seconds, and slow news

/** Checks the invariants that hold at every moment. */
export async function checkMeanwhile(options: {
  host: Host;
  store: Store;
  /** The highest there ever was. */
  maxAgents: number;
  /** The maximum now, and since when. */
  maximum: { agents: number; sinceAt: number };
  pendingPerAgent: number;
}): Promise<void> {
  const { host, store, maxAgents, maximum, pendingPerAgent } = options;
  if (host.running().length > maxAgents)
    host.faults.push(`I5: ${host.running().length} instances run at once`);
  const { db } = store;
  const served = await db
    .selectFrom("sessions")
    .innerJoin("instances", "instances.sessionId", "sessions.id")
    .select("sessions.boundAt")
    .where("sessions.state", "in", BOUND_SESSION_STATES)
    .where("instances.state", "in", LIVE_INSTANCE_STATES)
    .execute();
  const pending = await db.selectFrom("sessions").select("id").where("state", "=", "pending").execute();
  const active = await db.selectFrom("deployments").select("id").where("phase", "=", "Active").execute();
  const isOvershot = served.length > maximum.agents;
  if (isOvershot && served.some(({ boundAt }) => (boundAt ?? 0) > maximum.sinceAt))
    host.faults.push(`I5: a start made it ${served.length} sessions, ${maximum.agents} are allowed now`);
  if (pending.length > pendingPerAgent) host.faults.push(`${pending.length} sessions wait for their sockets`);
  if (active.length > 1) host.faults.push(`${active.length} deployments are active at once`);
}

/** Checks the invariants that hold when everything has settled. */
export async function checkAtTheEnd(options: {
  host: Host;
  store: Store;
  replies: { key: string; sessionId: string }[];
  deathsAtMs: number[];
}): Promise<void> {
  const { host, store, replies, deathsAtMs } = options;
  const { faults } = host;
  const sessions = await store.db.selectFrom("sessions").selectAll().execute();
  const byId = new Map(sessions.map((session) => [session.id, session]));

  for (const session of sessions)
    if (!isTerminal(session.state)) faults.push(`I3: session ${session.id} is ${session.state} for ever`);

  const instances = await store.db.selectFrom("instances").selectAll().execute();
  const live = new Set(
    instances.filter(({ state }) => !["stopped", "lost"].includes(state)).map(({ id }) => id),
  );
  for (const id of host.running()) if (!live.has(id)) faults.push(`I4: object ${id} has no row`);
  for (const [id, run] of host.truth)
    if (run.endMs === undefined) faults.push(`I4: the bot of session ${id} runs on`);

  const firstOfKey = new Map<string, string>();
  for (const { key, sessionId } of replies) {
    const session = byId.get(sessionId);
    if (!session || session.activeAt === null)
      faults.push(`I6: session ${sessionId} was promised, never active`);
    const first = firstOfKey.get(key) ?? sessionId;
    firstOfKey.set(key, first);
    if (first !== sessionId) faults.push(`I6: one key gave two sessions`);
  }

  const usage = await store.db.selectFrom("usage").selectAll().execute();
  for (const row of usage) {
    const session = byId.get(row.sessionId);
    if (session?.state !== "ended" || session.filter === null)
      faults.push(`I7: usage of a session that is ${session?.state}, filter ${session?.filter}`);
  }
  const usageOf = Map.groupBy(usage, ({ sessionId }) => sessionId);
  for (const session of sessions) {
    const run = host.truth.get(session.id);
    const billed = (usageOf.get(session.id) ?? []).reduce((sum, { seconds }) => sum + seconds, 0);
    if (session.state === "ended" && run) checkLength(session, run, { billed, deathsAtMs, faults });
    if (session.activeAt !== null && run) checkEnd(session, run, faults);
  }
}

function checkLength(
  session: SessionRow,
  run: BotRun,
  { billed, deathsAtMs, faults }: { billed: number; deathsAtMs: number[]; faults: string[] },
): void {
  if (session.filter === null) {
    if (billed > 0) faults.push(`I7: session ${session.id} has no filter and was billed`);
    return;
  }
  if (run.filter?.state === "failed" && !run.recordsLost) {
    if (billed > 0) faults.push(`I7: the filter of session ${session.id} failed and was billed`);
    return;
  }
  const boundMs = (session.boundAt ?? 0) - EPOCH_START_MS;
  const capS = session.maxDurationMs / 1000;
  const trueS = Math.min(((run.endMs ?? boundMs) - boundMs) / 1000, capS);
  if (billed > capS) faults.push(`I7: ${session.id} billed ${billed} s beyond its cap`);
  const endMs = run.endMs ?? boundMs;
  const sawTheEnd = !deathsAtMs.some((ms) => ms > boundMs - 3_000 && ms < endMs + 20_000);
  const lie = lieOf(session.id);
  const overS = lie === "more" ? (sawTheEnd ? SEEN_LATE_S : Infinity) : 1;
  if (billed > trueS + overS)
    faults.push(`I7: ${session.id} billed ${billed} s, lived ${trueS.toFixed(1)} s`);
  const isLost = run.end === "lost" || run.end === "killed" || lie === "less";
  const toleranceS = isLost ? HOST_LOST_TOLERANCE_S : 1.01;
  if ((sawTheEnd || !isLost) && !run.recordsLost && trueS - billed > toleranceS)
    faults.push(`I7: ${session.id} (${run.end}) lived ${trueS.toFixed(1)} s, billed only ${billed} s`);
}

function checkEnd(session: SessionRow, run: BotRun, faults: string[]): void {
  const mayBeEnded =
    session.stopRequestedAt !== null ||
    run.end === "finished" ||
    run.end === "lost" ||
    run.end === "deadline";
  if (!mayBeEnded) faults.push(`I8: session ${session.id} was active and the platform ended it (${run.end})`);
}
