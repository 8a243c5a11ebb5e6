import type { ResourceMetrics } from "@vocalhost/protocol";
import { useMemo } from "react";
import { toSize } from "../../shared/byte-size.ts";
import { Card } from "../ui/card.tsx";
import { Chart } from "../ui/chart.tsx";

/** What the session's instance used, over its life. */
export function ResourceCharts({ metrics, isOpen }: { metrics: ResourceMetrics | null; isOpen: boolean }) {
  const curves = useMemo(() => {
    const samples = metrics?.timeseries ?? [];
    return {
      times: samples.map(({ t }) => t),
      cpu: [
        { label: "CPU", values: samples.map(({ c }) => c), kind: "line" as const, tone: "accent" as const },
      ],
      memory: [
        { label: "Memory", values: samples.map(({ m }) => m), kind: "line" as const, tone: "warn" as const },
      ],
    };
  }, [metrics]);
  if (!metrics) {
    return (
      <Card title="Resources">
        <p className="text-sm text-muted">
          {isOpen ? "The first samples are on their way." : "The session was too short to be sampled."}
        </p>
      </Card>
    );
  }
  const cpuWords = `${Math.round(metrics.cpuMillicoresP50)} millicores at the median, ${Math.round(metrics.cpuMillicoresP95)} at the 95th percentile`;
  const memoryWords = `${toSize(metrics.memoryBytesP50)} at the median, ${toSize(metrics.memoryBytesP99)} at most`;
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <Card title="CPU" about={cpuWords}>
        <Chart
          times={curves.times}
          series={curves.cpu}
          toText={(value) => `${Math.round(value)} m`}
          atLeast={100}
          summary={`CPU: ${cpuWords}.`}
        />
      </Card>
      <Card title="Memory" about={memoryWords}>
        <Chart
          times={curves.times}
          series={curves.memory}
          toText={(value) => `${Math.round(value / 1_000_000)} MB`}
          atLeast={64_000_000}
          summary={`Memory: ${memoryWords}.`}
        />
      </Card>
    </div>
  );
}
