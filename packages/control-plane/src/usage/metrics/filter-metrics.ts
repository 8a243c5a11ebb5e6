import type { SessionFilter } from "@vocalhost/protocol";
import { Counter, Histogram, type Registry } from "prom-client";

export interface FilterMetrics {
  /** A session whose deployment asked for the voice filter is over. */
  filterDone(filter: SessionFilter): void;
}

const LEVEL_BUCKETS_DB = [0, 1, 3, 6, 10, 15, 20, 30, 40];

export function addFilterMetrics(registry: Registry): FilterMetrics {
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
