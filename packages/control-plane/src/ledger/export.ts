import type { Clock } from "../clock.ts";
import type { Failpoint } from "../failpoints.ts";
import type { OutboxRow } from "../store/schema.ts";
import type { Store } from "../store/store.ts";

/** Receivers remember an identifier for 24 h; afterwards a repetition might count twice, so a person decides. */
export const HELD_AFTER_MS = 23 * 3_600_000;
const SEND_TIMEOUT_MS = 10_000;
const ROWS_PER_ROUND = 500;

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
  failed: number;
  /** Why the last one that failed did. */
  problem?: string;
}

/** Sends what has not been sent, at least once, each under its own identifier. */
export async function exportUsage(options: ExportOptions): Promise<ExportRound> {
  const { store, clock, failpoint } = options;
  const round: ExportRound = { sent: 0, held: await holdOld(store, clock.nowMs()), failed: 0 };
  const rows = await store.db
    .selectFrom("outbox")
    .selectAll()
    .where("sentAt", "is", null)
    .where("heldAt", "is", null)
    .orderBy("createdAt")
    .orderBy("id")
    .limit(ROWS_PER_ROUND)
    .execute();
  for (const row of rows) {
    failpoint("export.sent.before");
    const outcome = await send(row, options);
    failpoint("export.sent.after");
    if (outcome.kind === "taken") {
      round.sent += 1;
      await store.db.updateTable("outbox").set({ sentAt: clock.nowMs() }).where("id", "=", row.id).execute();
    } else {
      round.failed += 1;
      round.problem = outcome.why;
      // The receiver is down: the others would only wait for nothing.
      if (outcome.kind === "unreachable") break;
    }
  }
  return round;
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

async function send(row: OutboxRow, { url, token, signal }: ExportOptions): Promise<Outcome> {
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
    return { kind: response.status >= 500 ? "unreachable" : "refused", why };
  } catch (error) {
    const { cause } = error as Error;
    return { kind: "unreachable", why: cause instanceof Error ? cause.message : String(error) };
  }
}
