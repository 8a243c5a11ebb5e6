// The metrics of a running service; dashboards and alerts name no others.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { patientMs } from "../../testing/patience.ts";
import { until } from "../../testing/wait.ts";
import { startServiceProcess } from "../harness/service-process.ts";

const DASHBOARD = new URL("../../deploy/grafana/vocalhost.json", import.meta.url);
const ALERTS = new URL("../../deploy/prometheus/alerts.yaml", import.meta.url);
const WAIT_MS = patientMs(30_000);

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string }[];
}

test("the service tells its figures, and those the dashboard and the alerts name exist", async () => {
  await using service = await startServiceProcess({
    environment: { VOCALHOST_METRICS_TOKEN: "let-me-look" },
  });
  // From the controller itself: the gateway is about to be killed, and comes back on another port.
  const read = async (): Promise<string> => {
    const socketPath = join(service.dataFolder, "controller.sock");
    const headers = { authorization: "Bearer let-me-look" };
    const asked = request({ socketPath, path: "/metrics", headers }).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    assert.equal(response.statusCode, 200);
    return text(response);
  };
  const told = (pattern: RegExp) =>
    until(async () => pattern.test(await read().catch(() => "")), WAIT_MS, String(pattern));

  const held = connect({ host: "localhost", port: Number(new URL(service.apiUrl).port) });
  await told(/^vocalhost_gateway_connections [1-9]/m);
  held.destroy();
  await told(/^vocalhost_data_bytes\{area="database"\} [1-9]/m);
  await told(/^vocalhost_reconcile_seconds_count [1-9]/m);
  await told(/^vocalhost_disk_free_bytes [1-9]/m);
  for (const name of ["controller", "gateway"]) {
    await told(new RegExp(`^vocalhost_process_resident_bytes\\{process="${name}"\\} [1-9]`, "m"));
    await told(
      new RegExp(`^vocalhost_event_loop_lag_seconds\\{process="${name}",percentile="99"\\} \\d`, "m"),
    );
  }
  await service.replaceController();
  await told(/^vocalhost_process_restarts_total\{process="controller"\} 1$/m);
  const figures = await read();
  process.kill(service.pid("gateway"), "SIGKILL");
  await told(/^vocalhost_process_restarts_total\{process="gateway"\} 1$/m);

  const known = new Set([...figures.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  for (const file of [DASHBOARD, ALERTS]) {
    const named = new Set(readFileSync(file, "utf8").match(/vocalhost_[a-z_]+/g));
    assert.ok(named.size > 10);
    for (const name of named) {
      const family = name.replace(/_(?:bucket|sum|count)$/, "");
      assert.ok(known.has(name) || known.has(family), `${name} of ${file.pathname}`);
    }
  }
});

test("the dashboard's panels have an id and a place of their own", () => {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, "utf8")) as { panels: Panel[] };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const taken = new Set<string>();
  for (const { title, type, gridPos, targets } of panels) {
    if (type !== "row")
      assert.ok(
        targets?.every(({ expr }) => expr.includes("vocalhost_")),
        title,
      );
    assert.ok(gridPos.x + gridPos.w <= 24, title);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        assert.ok(!taken.has(`${x},${y}`), title);
        taken.add(`${x},${y}`);
      }
  }
});
