import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Store } from "@vocalhost/store/store";
import { addDiskMetrics, type DiskMetrics } from "./disk-metrics.ts";
import { addFilterMetrics, type FilterMetrics } from "./filter-metrics.ts";
import { addProcessMetrics, type ProcessMetrics } from "./process-metrics.ts";
import { addStoreMetrics } from "./store-metrics.ts";

/** Figures for operators. `deploy/` has a dashboard and alerts made of them. */
export interface Metrics extends ProcessMetrics, DiskMetrics, FilterMetrics {
  registry: Registry;
  /** By `started` or the code of the refusal. */
  countStart(outcome: string): void;
  /** A session is in another region than its caller or its agent would have had it. */
  countElsewhere(place: { from: string; why: string; to: string }): void;
  requestDone(request: { method: string; route: string; status: string }, seconds: number): void;
  passDone(seconds: number): void;
  /** Whatever it was, it will be retried; `what` is a step, or a part of the pass. */
  passFailed(what: string): void;
}

export interface MetricsOptions {
  store: Store;
  dataFolder: string;
  version: string;
}

const REQUEST_BUCKETS_S = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const PASS_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export function createMetrics({ store, dataFolder, version }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const info = new Gauge({
    name: "vocalhost_build_info",
    help: "Always 1; says which version runs",
    labelNames: ["version"],
    registers,
  });
  info.set({ version }, 1);
  const starts = new Counter({
    name: "vocalhost_starts_total",
    help: "Requests to start a session, by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const elsewhere = new Counter({
    name: "vocalhost_starts_elsewhere_total",
    help: "Starts that went to another region, by the region that was meant, what was wrong with it and where they went",
    labelNames: ["from", "why", "to"],
    registers,
  });
  const requests = new Histogram({
    name: "vocalhost_http_request_seconds",
    help: "Time from a request to the end of its answer",
    labelNames: ["method", "route", "status"],
    buckets: REQUEST_BUCKETS_S,
    registers,
  });
  const passes = new Histogram({
    name: "vocalhost_reconcile_seconds",
    help: "Time the reconciler took for one look at everything",
    buckets: PASS_BUCKETS_S,
    registers,
  });
  const failures = new Counter({
    name: "vocalhost_reconcile_failures_total",
    help: "Passes of the reconciler, or steps of them, that failed and are retried",
    labelNames: ["what"],
    registers,
  });
  addStoreMetrics(registry, store);
  return {
    registry,
    ...addProcessMetrics(registry),
    ...addDiskMetrics(registry, dataFolder),
    ...addFilterMetrics(registry),
    countStart: (outcome) => starts.inc({ outcome }),
    countElsewhere: (place) => elsewhere.inc(place),
    requestDone: (request, seconds) => requests.observe(request, seconds),
    passDone: (seconds) => passes.observe(seconds),
    passFailed: (what) => failures.inc({ what }),
  };
}
