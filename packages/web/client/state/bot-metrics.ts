import type { MetricItem, Metrics } from "@vocalhost/protocol";
import type { ConnectionEvent } from "../../shared/events/connection-event.ts";
import { median } from "../../shared/figures/response-latency.ts";

/** Measurements the bot sent about its own services. */
export interface BotMetrics {
  rows: MetricRow[];
  tokens: { prompt: number; completion: number; total: number };
}

export interface MetricRow {
  name: string;
  processor: string;
  unit: "seconds" | "characters";
  values: number[];
}

export const emptyMetrics: BotMetrics = {
  rows: [],
  tokens: { prompt: 0, completion: 0, total: 0 },
};

const VALUES_MAX = 100;
const ROWS_MAX = 40;

const groups = [
  { key: "ttfb", name: "First byte", unit: "seconds" },
  { key: "ttfa", name: "First audio", unit: "seconds" },
  { key: "processing", name: "Processing", unit: "seconds" },
  { key: "characters", name: "Characters", unit: "characters" },
] as const;

export function nextMetrics(metrics: BotMetrics, event: ConnectionEvent): BotMetrics {
  if (event.type === "session-requested") return emptyMetrics;
  if (event.type !== "message-received" || event.message.type !== "metrics") return metrics;
  const data = (event.message.data ?? {}) as Metrics;
  let { rows } = metrics;
  for (const group of groups) {
    for (const item of listOf<MetricItem>(data[group.key])) {
      rows = put(rows, { ...group, processor: item.processor, value: item.value });
    }
  }
  const tokens = { ...metrics.tokens };
  for (const item of listOf<NonNullable<Metrics["tokens"]>[number]>(data.tokens)) {
    tokens.prompt += item.prompt_tokens ?? 0;
    tokens.completion += item.completion_tokens ?? 0;
    tokens.total += item.total_tokens ?? 0;
  }
  return { rows, tokens };
}

export function summarize(row: MetricRow): { last: number; typical: number } {
  const last = row.values.at(-1) ?? 0;
  if (row.unit === "characters") {
    return { last, typical: row.values.reduce((sum, value) => sum + value, 0) };
  }
  return { last, typical: median(row.values) ?? last };
}

function put(
  rows: MetricRow[],
  item: { name: string; unit: MetricRow["unit"]; processor: string; value: number },
): MetricRow[] {
  // A service that has not run yet reports zero.
  if (typeof item.value !== "number" || item.value <= 0) return rows;
  const { name, unit, processor, value } = item;
  const index = rows.findIndex((row) => row.name === name && row.processor === processor);
  const known = rows[index];
  if (known) {
    return rows.with(index, { ...known, values: [...known.values, value].slice(-VALUES_MAX) });
  }
  return rows.length < ROWS_MAX ? [...rows, { name, unit, processor, values: [value] }] : rows;
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}
