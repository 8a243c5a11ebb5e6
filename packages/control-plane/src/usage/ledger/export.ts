import type { Clock } from "@vocalhost/base/clock";
import type { Failpoint } from "@vocalhost/base/failpoints";
import type { Log } from "@vocalhost/base/log";
import type { Store } from "@vocalhost/store/store";

/** Receivers remember an identifier for 24 h; afterwards a repetition might count twice, so a person decides. */
export const HELD_AFTER_MS = 23 * 3_600_000;
const SEND_TIMEOUT_MS = 10_000;
const ROWS_PER_ROUND = 500;
const NEW_ROWS_PER_ROUND = 400; // the others are for rows whose turn has come again
const AGAIN_MS = 30_000; // doubles with every refusal
const AGAIN_MAX_MS = 15 * 60_000;
/** Statuses that refuse the sender or the rate, not the row. */
const NOT_OF_THE_ROW = new Set([401, 407, 408, 425, 429]);

export interface ExportOptions {
  store: Store;
  clock: Clock;
  /** Takes one POST per row and answers 2xx once it has it. */
  url: string;
  /** Sent as a bearer token, so that the receiver knows who it is. */
  token?: string | undefined;
  failpoint: Failpoint;
  signal?: AbortSignal;
}

export interface ExportRound {
  sent: number;
  held: number;
  /** Rows that could not be sent, in this round or before, and wait for another try. */
  failed: number;
  /** Why the last one that failed in this round did. */
  problem?: string;
}

/** Sends each unsent row at least once, under its own identifier. A row that fails waits for its next try. */
export async function exportUsage(options: ExportOptions): Promise<ExportRound> {
  const { store, clock, failpoint } = options;
  const round: ExportRound = { sent: 0, held: await holdOld(store, clock.nowMs()), failed: 0 };
  for (const row of await dueRows(store, clock.nowMs())) {
    failpoint("export.sent.before");
    const outcome = await send(row, options);
    failpoint("export.sent.after");
    if (outcome.kind === "taken") {
      round.sent += 1;
      await store.db.updateTable("outbox").set({ sentAt: clock.nowMs() }).where("id", "=", row.id).execute();
      continue;
    }
    round.problem = outcome.why;
    await putOff(store, row, { outcome, nowMs: clock.nowMs() });
    // The receiver is down, so the other rows are not tried. In the next round another row is first.
    if (outcome.kind === "unreachable") break;
  }
  round.failed = await countPutOff(store);
  return round;
}

interface DueRow {
  id: string;
  payload: string;
  refusals: number;
}

/** Returns new rows before those that failed, so that failing rows hold up no others. */
async function dueRows(store: Store, nowMs: number): Promise<DueRow[]> {
  const columns = ["id", "payload", "refusals"] as const;
  const fresh = await unsent(store)
    .select(columns)
    .where("againAt", "=", 0)
    .orderBy("createdAt")
    .orderBy("id")
    .limit(NEW_ROWS_PER_ROUND)
    .execute();
  const again = await unsent(store)
    .select(columns)
    .where("againAt", ">", 0)
    // No row waits for so long: the clock was set back.
    .where((is) => is.or([is("againAt", "<=", nowMs), is("againAt", ">", nowMs + AGAIN_MAX_MS)]))
    .orderBy("againAt")
    .orderBy("createdAt")
    .orderBy("id")
    .limit(ROWS_PER_ROUND - fresh.length)
    .execute();
  return [...fresh, ...again];
}

async function putOff(
  store: Store,
  { id, refusals }: DueRow,
  { outcome, nowMs }: { outcome: Outcome; nowMs: number },
): Promise<void> {
  const isRefused = outcome.kind === "refused";
  const waitMs = isRefused ? Math.min(AGAIN_MS * 2 ** refusals, AGAIN_MAX_MS) : AGAIN_MS;
  await store.db
    .updateTable("outbox")
    .set({ againAt: nowMs + waitMs, refusals: refusals + Number(isRefused) })
    .where("id", "=", id)
    .execute();
}

async function countPutOff(store: Store): Promise<number> {
  const { count } = await unsent(store)
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("againAt", ">", 0)
    .executeTakeFirstOrThrow();
  return count;
}

function unsent({ db }: Store) {
  return db.selectFrom("outbox").where("sentAt", "is", null).where("heldAt", "is", null);
}

async function holdOld(store: Store, nowMs: number): Promise<number> {
  const result = await store.db
    .updateTable("outbox")
    .set({ heldAt: nowMs })
    .where("sentAt", "is", null)
    .where("heldAt", "is", null)
    .where("createdAt", "<=", nowMs - HELD_AFTER_MS)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

type Outcome = { kind: "taken" } | { kind: "refused" | "unreachable"; why: string };

async function send(row: DueRow, { url, token, signal }: ExportOptions): Promise<Outcome> {
  const timeout = AbortSignal.timeout(SEND_TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": row.id,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: row.payload,
      redirect: "error",
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    await response.body?.cancel();
    if (response.ok) return { kind: "taken" };
    const why = `the receiver answers ${response.status}`;
    const isOfTheRow = response.status < 500 && !NOT_OF_THE_ROW.has(response.status);
    return { kind: isOfTheRow ? "refused" : "unreachable", why };
  } catch (error) {
    const { cause } = error as Error;
    return { kind: "unreachable", why: cause instanceof Error ? cause.message : String(error) };
  }
}

const REMIND_MS = 60 * 60_000;

/** Says once when exporting begins to fail, again every hour or when the reason changes, and when it works again. */
export function createExportTeller(log: Log, monotonicMs: () => number): (round: ExportRound) => void {
  let told: { problem: string; atMs: number } | undefined;
  return ({ sent, held, failed, problem }) => {
    if (held > 0)
      log.error({ held }, "usage entries could not be exported for 23 hours and are held for a person");
    if (failed === 0) {
      if (told && sent > 0) {
        log.info({ sent }, "usage is exported again");
        told = undefined;
      }
      return;
    }
    if (problem === undefined) return; // they wait, and nothing new is known of them
    if (told?.problem === problem && monotonicMs() - told.atMs < REMIND_MS) return;
    told = { problem, atMs: monotonicMs() };
    log.warn({ failed, problem }, "usage cannot be exported, will be retried");
  };
}
