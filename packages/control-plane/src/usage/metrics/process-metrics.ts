import { Counter, Gauge, type Registry } from "prom-client";
import type { GatewayFigures } from "@vocalhost/base/metrics/gateway-figures";
import type { ProcessFigures } from "@vocalhost/base/metrics/process-figures";

export interface ProcessMetrics {
  controllerSampled(figures: ProcessFigures): void;
  gatewaySampled(figures: GatewayFigures): void;
}

export function addProcessMetrics(registry: Registry): ProcessMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const processes = addFiguresOfProcesses(registry);
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
  return {
    controllerSampled: (figures) => processes.sampled("controller", figures),
    gatewaySampled(figures) {
      const nowMs = performance.now();
      gateways.set(figures.gateway ?? "", { ...figures, heardAtMs: nowMs });
      // A gateway that was taken away for good is forgotten while others report. The only one never is.
      for (const [name, { heardAtMs }] of gateways)
        if (nowMs - heardAtMs > GONE_MS) {
          gateways.delete(name);
          processes.forget(processName(name));
        }
      const all = [...gateways.values()];
      const sum = (of: (each: GatewayFigures) => number): number =>
        all.reduce((total, each) => total + of(each), 0);
      connections.set(sum((each) => each.connections));
      connectionsMax.set(sum((each) => each.connectionsMax));
      sockets.set(sum((each) => each.sockets));
      processes.sampled(processName(figures.gateway ?? ""), figures.process);
    },
  };
}

function addFiguresOfProcesses(registry: Registry) {
  const options = { labelNames: ["process"], registers: [registry] };
  const counter = (name: string, help: string): Counter => new Counter({ name, help, ...options });
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, ...options });
  const restarts = counter(
    "vocalhost_process_restarts_total",
    "How often a process that died was started again",
  );
  const cpu = counter("vocalhost_process_cpu_seconds_total", "CPU time the process has used");
  const resident = gauge("vocalhost_process_resident_bytes", "Memory the process holds");
  const heap = gauge("vocalhost_process_heap_bytes", "Memory its JavaScript objects take");
  const lag = new Gauge({
    name: "vocalhost_event_loop_lag_seconds",
    help: "How late timers of the process were in the last 5 s",
    labelNames: ["process", "percentile"],
    registers: [registry],
  });
  return {
    sampled(process: string, figures: ProcessFigures): void {
      resident.set({ process }, figures.residentBytes);
      heap.set({ process }, figures.heapBytes);
      for (const [percentile, key] of LAGS) lag.set({ process, percentile }, figures.lagSeconds[key]);
      // The process itself counts; these counters only follow.
      const totals = [[restarts, figures.restarts] as const, [cpu, figures.cpuSeconds] as const];
      for (const [total, value] of totals) {
        total.remove({ process });
        total.inc({ process }, value);
      }
    },
    forget(process: string): void {
      for (const metric of [restarts, cpu, resident, heap]) metric.remove({ process });
      for (const [percentile] of LAGS) lag.remove({ process, percentile });
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
