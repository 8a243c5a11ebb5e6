import type { AliveRecord, ExitRecord } from "@vocalhost/protocol";
import { writeUsage } from "../usage/ledger/close-usage.ts";
import {
  BILLED_STOP_GRACE_MS,
  billedMs,
  billedSeconds,
  lengthCorrectionMs,
  type SessionFacts,
} from "../usage/ledger/length.ts";
import { moveInstance } from "../pools/instance-state.ts";
import type { InstanceRow, SessionRow } from "@vocalhost/store/schema";
import type { Tx } from "@vocalhost/store/store";
import { filterFacts } from "./filter-facts.ts";
import { moveSession } from "./session-state.ts";
import { withMarks } from "./timeline.ts";

/** Everything that is known about a session's end. */
export interface Ending {
  /** Written beside the bot; without one the instance was lost, whatever else is believed. */
  exit: ExitRecord | undefined;
  /** Last sign of life otherwise. */
  alive: AliveRecord | undefined;
  instance: InstanceRow | undefined;
  /** Its length as the controller itself saw it. */
  observed: SessionFacts["observed"];
  nowMs: number;
}

type ClosingRow = Omit<SessionRow, "body" | "caller">;

/**
 * The one terminal transition of a session that was active, with its usage, in one transaction: close is the entry.
 * False if it was closed or changed elsewhere.
 */
export async function closeSession(tx: Tx, session: ClosingRow, ending: Ending): Promise<boolean> {
  const { exit, alive, instance, observed, nowMs } = ending;
  const elapsedMs = exit?.elapsedMs ?? (await lastHeardMs(tx, session, alive));
  const facts: SessionFacts = {
    boundAt: session.boundAt,
    startMs: session.startMs,
    elapsedMs: exit ? billableMs(exit) : elapsedMs,
    lastProofOfLifeAt: instance?.lastSeenAt ?? null,
    // An exit record says by the instance's own clock when it was asked to stop; ours may have been adjusted.
    stopRequestedAt: exit ? null : session.stopRequestedAt,
    maxDurationMs: session.maxDurationMs,
    observed,
  };
  const filtered = filterFacts(session, exit ?? alive);
  const moved = await moveSession(tx, session, {
    to: "ended",
    changes: {
      endedAt: endedAt(facts, ending),
      endReason:
        exit?.reason ?? (session.state === "stopping" ? (session.stopReason ?? "stopped") : "instance-lost"),
      elapsedMs,
      observedMs: roundedMs(observed.atLeastMs),
      lengthCorrectionMs: lengthCorrectionMs(facts),
      seconds: billedSeconds(facts),
      body: null,
      timeline: withMarks(session, exit?.marks),
      ...filtered,
    },
  });
  if (!moved) return false;
  const { id, organizationId, agentId, filter } = session;
  const { filterState } = filtered;
  await writeUsage(tx, { id, organizationId, agentId, filter, filterState, ...facts }, { nowMs });
  if (!exit && instance?.state === "busy")
    await moveInstance(tx, instance, { to: "lost", cause: "it is gone and left no exit record", nowMs });
  return true;
}

/**
 * Takes the bot's wall clock, since the controller may not have seen the end. A bot can set that clock, so the end lies
 * between the time that is billed and now.
 */
function endedAt(facts: SessionFacts, { exit, nowMs }: Ending): number {
  const earliest = Math.round((facts.boundAt ?? 0) + billedMs(facts));
  return Math.min(Math.max(exit?.endedAtMs ?? nowMs, earliest), nowMs);
}

function roundedMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

function billableMs({ elapsedMs, stopAskedMs }: ExitRecord): number {
  return stopAskedMs === undefined ? elapsedMs : Math.min(elapsedMs, stopAskedMs + BILLED_STOP_GRACE_MS);
}

/** Returns the length by the bot's own clock: from the record beside it, or from its last heartbeat. */
async function lastHeardMs(
  tx: Tx,
  session: ClosingRow,
  alive: AliveRecord | undefined,
): Promise<number | null> {
  const row = await tx
    .selectFrom("sessions")
    .select("elapsedMs")
    .where("id", "=", session.id)
    .executeTakeFirst();
  const written = alive?.sessionId === session.id ? alive.elapsedMs : null;
  const told = row?.elapsedMs ?? null;
  return written === null || told === null ? (written ?? told) : Math.max(written, told);
}
