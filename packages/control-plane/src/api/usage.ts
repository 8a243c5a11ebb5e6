import { usageOperations, type UsageQuery } from "@vocalhost/protocol";
import { Readable } from "node:stream";
import { toTime } from "@vocalhost/base/to-time";
import type { Clock } from "@vocalhost/base/clock";
import { readUsageDays } from "../usage/ledger/read-usage-days.ts";
import { readUsage } from "../usage/ledger/read-usage.ts";
import { usageCsv } from "../usage/ledger/usage-csv.ts";
import { handle, type Handled } from "./operation.ts";
import type { Log } from "@vocalhost/base/log";
import type { ApiPorts } from "./ports.ts";
import { createPlaces } from "./stream-places.ts";
import { whileTaken } from "./while-taken.ts";

const TABLES_MAX = 16; // each reads pages for as long as its client reads

export function handleUsage({ store, clock, log }: ApiPorts): Handled[] {
  const tables = createPlaces({ max: TABLES_MAX, refusal: "Too many tables of usage are being read" });
  return handle(usageOperations)({
    usage: async ({ organizationId, query }) => {
      const { period, corrections, ...report } = await readUsage(
        store,
        organizationId,
        monthOf(query, clock),
      );
      return {
        ...report,
        month: period,
        corrections: corrections.map((row) => ({ ...row, foundAt: toTime(row.foundAt) })),
      };
    },
    usageDays: async ({ organizationId, query }) => {
      const month = monthOf(query, clock);
      const report = await readUsageDays(store, organizationId, { period: month, nowMs: clock.nowMs() });
      return { month, ...report };
    },
    usageCsv: async ({ organizationId, query, reply }) => {
      const month = monthOf(query, clock);
      tables.takeFor(organizationId, reply.raw);
      const pages = toldWhenBroken(usageCsv(store, organizationId, month), log);
      reply.header("content-type", "text/csv; charset=utf-8");
      reply.header("content-disposition", `attachment; filename="usage-${month}.csv"`);
      const taken = whileTaken(pages, { clock, answer: reply.raw });
      return Readable.from(taken, { highWaterMark: 1 });
    },
  });
}

/**
 * Logs an error that comes after the headers. It also destroys the connection, so that the client does not take a
 * partial table for the whole.
 */
async function* toldWhenBroken(pages: AsyncIterable<string>, log: Log): AsyncGenerator<string, void> {
  try {
    yield* pages;
  } catch (error) {
    log.warn({ err: error }, "table of usage broke off");
    throw error;
  }
}

function monthOf({ month }: UsageQuery, clock: Clock): string {
  return month ?? toTime(clock.nowMs()).slice(0, 7);
}
