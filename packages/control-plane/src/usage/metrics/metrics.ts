import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Store } from "@vocalhost/store/store";
import { addProcessMetrics, type ProcessMetrics } from "./process-metrics.ts";
import { addStoreMetrics } from "./store-metrics.ts";
import { type DataArea, dataAreas, readDiskSpace } from "./data-folder.ts";
import { type SessionFilter } from "@vocalhost/protocol";

/** Figures for operators. `deploy/` has a dashboard and alerts made of them. */
export interface Metrics extends ProcessMetrics, DiskMetrics, FilterMetrics {
  registry: Registry;
  /** By `started` or the code of the refusal. */
  countStart(outcome: string): void;
  /** A session is in another region than its caller or its agent would have had it. */
  countElsewhere(place: { from: string; why: string; to: string }): void;
  requestDone(request: { method: string; route: string; status: string }, seconds: number): void;
  passDone(seconds: number): void;
  /** `what` is a step or a part of the pass. It will be retried. */
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

interface DiskMetrics {
  measured(bytes: Record<DataArea, number>): void;
}

function addDiskMetrics(registry: Registry, dataFolder: string): DiskMetrics {
  const registers = [registry];
  const total = new Gauge({
    name: "vocalhost_disk_total_bytes",
    help: "Size of the disk that holds the data folder",
    registers,
  });
  registry.registerMetric(
    new Gauge({
      name: "vocalhost_disk_free_bytes",
      help: "What the service can still write to that disk",
      registers: [],
      async collect() {
        const { freeBytes, totalBytes } = await readDiskSpace(dataFolder);
        this.set(freeBytes);
        total.set(totalBytes);
      },
    }),
  );
  const areas = new Gauge({
    name: "vocalhost_data_bytes",
    help: "Bytes on disk of each area of the data folder, measured every five minutes",
    labelNames: ["area"],
    registers,
  });
  return {
    measured(bytes) {
      for (const area of dataAreas) areas.set({ area }, bytes[area]);
    },
  };
}

interface FilterMetrics {
  /** A session whose deployment asked for the voice filter is over. */
  filterDone(filter: SessionFilter): void;
}

const LEVEL_BUCKETS_DB = [0, 1, 3, 6, 10, 15, 20, 30, 40];

function addFilterMetrics(registry: Registry): FilterMetrics {
  const registers = [registry];
  const counter = (name: string, help: string, labels: string[] = []): Counter =>
    new Counter({ name, help, labelNames: ["model", ...labels], registers });

  const sessions = counter(
    "vocalhost_filter_sessions_total",
    "Sessions that asked for the voice filter and are over, by what became of it",
    ["state"],
  );
  const frames = counter(
    "vocalhost_filter_frames_total",
    "Frames of 10 ms that came to the voice filter, were filtered, and had the caller in them",
    ["kind"],
  );
  const audio = counter("vocalhost_filter_audio_seconds_total", "Audio that went through the voice filter");
  const cpu = counter("vocalhost_filter_cpu_seconds_total", "CPU time of the voice filter");
  const failures = counter("vocalhost_filter_failures_total", "How often the voice filter failed");
  const levels = new Histogram({
    name: "vocalhost_filter_level_removed_db",
    help: "How much weaker the voice filter made a session's audio",
    labelNames: ["model"],
    buckets: LEVEL_BUCKETS_DB,
    registers,
  });

  return {
    filterDone(filter) {
      const { model } = filter;
      sessions.inc({ model, state: filter.state ?? "unknown" });
      frames.inc({ model, kind: "in" }, filter.framesIn);
      frames.inc({ model, kind: "filtered" }, filter.framesFiltered);
      frames.inc({ model, kind: "near" }, Math.round((filter.nearShare ?? 0) * filter.framesFiltered));
      audio.inc({ model }, filter.seconds);
      cpu.inc({ model }, filter.cpuMs / 1_000);
      failures.inc({ model }, filter.failures);
      if (filter.levelRemovedDb !== null) levels.observe({ model }, filter.levelRemovedDb);
    },
  };
}
