import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { addProcessMetrics } from "./process-metrics.ts";

const PROCESS = {
  restarts: 1,
  cpuSeconds: 2,
  residentBytes: 3,
  heapBytes: 4,
  lagSeconds: { p50: 0, p99: 0, max: 0 },
};

test("connections of several gateways are added up, and each has figures of its own", async () => {
  const registry = new Registry();
  const { gatewaySampled } = addProcessMetrics(registry);
  const figures = { connectionsMax: 100, sockets: 2, process: PROCESS };
  gatewaySampled({ ...figures, gateway: "a:7870", connections: 5 });
  gatewaySampled({ ...figures, gateway: "b:7870", connections: 7 });
  gatewaySampled({ ...figures, gateway: "b:7870", connections: 8 });
  const text = await registry.metrics();
  assert.match(text, /^vocalhost_gateway_connections 13$/m);
  assert.match(text, /^vocalhost_gateway_connections_max 200$/m);
  assert.match(text, /^vocalhost_gateway_sockets 4$/m);
  assert.match(text, /^vocalhost_process_restarts_total\{process="gateway a:7870"\} 1$/m);
  assert.match(text, /^vocalhost_process_cpu_seconds_total\{process="gateway b:7870"\} 2$/m);
});
