import { Counter, Gauge, type Registry } from "prom-client";
import type { GatewayFigures } from "@vocalhost/base/metrics/gateway-figures";
import type { ProcessFigures } from "@vocalhost/base/metrics/process-figures";

export interface ProcessMetrics {
  controllerSampled(figures: ProcessFigures): void;
  gatewaySampled(figures: GatewayFigures): void;
}

export function addProcessMetrics(registry: Registry): ProcessMetrics {
  const registers = [registry];
  const labelNames = ["process"];
  const gauge = (name: string, help: string, labels: string[] = []): Gauge =>
    new Gauge({ name, help, labelNames: labels, registers });
  const counter = (name: string, help: string): Counter => new Counter({ name, help, labelNames, registers });

  const restarts = counter(
    "vocalhost_process_restarts_total",
    "How often a process that died was started again",
  );
  const cpu = counter("vocalhost_process_cpu_seconds_total", "CPU time the process has used");
  const resident = gauge("vocalhost_process_resident_bytes", "Memory the process holds", labelNames);
  const heap = gauge("vocalhost_process_heap_bytes", "Memory its JavaScript objects take", labelNames);
  const lag = gauge(
    "vocalhost_event_loop_lag_seconds",
    "How late timers of the process were in the last 5 s",
    ["process", "percentile"],
  );
  const connections = gauge("vocalhost_gateway_connections", "Connections open at the gateway");
  const connectionsMax = gauge("vocalhost_gateway_connections_max", "Connections the gateway takes at most");
  const sockets = gauge("vocalhost_gateway_sockets", "WebSockets the gateway relays to instances");
  const gateways = new Map<string, GatewayFigures & { heardAtMs: number }>();
  registry.registerMetric(
    new Gauge({
      name: "vocalhost_gateway_silent_seconds",
      help: "Time since the gateway, of several the quietest, last told its figures, which it does every 5 s",
      registers: [],
      collect() {
        const heardAtMs = [...gateways.values()].map((each) => each.heardAtMs);
        if (heardAtMs.length > 0) this.set((performance.now() - Math.min(...heardAtMs)) / 1_000);
      },
    }),
  );

  function sampled(process: string, figures: ProcessFigures): void {
    resident.set({ process }, figures.residentBytes);
    heap.set({ process }, figures.heapBytes);
    for (const [percentile, key] of LAGS) lag.set({ process, percentile }, figures.lagSeconds[key]);
    // The process itself counts; here the counter only follows.
    for (const [total, value] of [
      [restarts, figures.restarts] as const,
      [cpu, figures.cpuSeconds] as const,
    ]) {
      total.remove({ process });
      total.inc({ process }, value);
    }
  }

  function forget(process: string): void {
    for (const metric of [restarts, cpu, resident, heap]) metric.remove({ process });
    for (const [percentile] of LAGS) lag.remove({ process, percentile });
  }

  return {
    controllerSampled: (figures) => sampled("controller", figures),
    gatewaySampled(figures) {
      const nowMs = performance.now();
      gateways.set(figures.gateway ?? "", { ...figures, heardAtMs: nowMs });
      // Others go on: one that was taken away for good is forgotten. The only one is not.
      for (const [name, { heardAtMs }] of gateways)
        if (nowMs - heardAtMs > GONE_MS) {
          gateways.delete(name);
          forget(processName(name));
        }
      const all = [...gateways.values()];
      const sum = (of: (each: GatewayFigures) => number): number =>
        all.reduce((total, each) => total + of(each), 0);
      connections.set(sum((each) => each.connections));
      connectionsMax.set(sum((each) => each.connectionsMax));
      sockets.set(sum((each) => each.sockets));
      sampled(processName(figures.gateway ?? ""), figures.process);
    },
  };
}

const GONE_MS = 60_000;

function processName(gateway: string): string {
  return gateway === "" ? "gateway" : `gateway ${gateway}`;
}

const LAGS = [
  ["50", "p50"],
  ["99", "p99"],
  ["100", "max"],
] as const;
