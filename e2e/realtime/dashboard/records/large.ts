// The dashboard with as much to show as it is meant for.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { patientMs } from "../../../../testing/patience.ts";
import type { ServiceProcess } from "../../../harness/service-process.ts";
import { until } from "../../../../testing/wait.ts";
import { openDashboard } from "../dashboard-page.ts";
import type { DashboardStage } from "../stage.ts";
import { PATIENCE_MS } from "../../../harness/watched-page.ts";

const SESSIONS = 1_000;
const LINES = 10_000;
const FRAME_WORST_MS = patientMs(300);
const FRAME_USUAL_MS = patientMs(60); // of three in four
const IDLE_MS = 1_000;

export function largeTests(stage: DashboardStage): void {
  describe("much to show", () => {
    before(async () => {
      await stage.service.api.agents.create({
        serviceName: "busy-desk",
        buildId: await stage.service.build({ "bot.ts": "export async function bot() {}" }),
      });
      fill(stage.service);
    });
    after(() => stage.service.api.agents.delete("busy-desk"));

    test("the pages of a thousand sessions are read in pieces and drawn at once", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      await dashboard.go("/agents/busy-desk");
      await page.getByText(`${SESSIONS} in the last 24 hours`).waitFor();
      await dashboard.look("large-overview");
      await dashboard.go("/agents/busy-desk/sessions");
      await page.getByText(`1–50 of ${SESSIONS}`).waitFor();
      await smoothly(page, async () => {
        for (let turn = 2; turn <= 5; turn += 1) {
          await page.getByRole("button", { name: "Older" }).click();
          await page.getByText(`–${turn * 50} of ${SESSIONS}`).waitFor();
        }
      });
      await dashboard.look("large-sessions");
    });

    test("ten thousand lines of log scroll without stumbling, and few of them exist", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      await dashboard.go("/agents/busy-desk/logs");
      const list = page.getByRole("listbox", { name: "Log lines" });
      await list.waitFor();
      await until(
        async () => {
          if (await page.getByText(`${LINES} lines`).isVisible()) return true;
          const button = page.getByRole("button", { name: "Load earlier lines" });
          if (await button.isVisible()) await button.click({ timeout: 1_000 }).catch(() => undefined); // busy reading
          return undefined;
        },
        PATIENCE_MS,
        `${LINES} lines`,
      );
      const frames = await smoothly(page, () =>
        list.evaluate(async (element) => {
          for (let step = 0; step <= 60; step += 1) {
            element.scrollTop = (element.scrollHeight * step) / 60;
            await new Promise(requestAnimationFrame);
          }
        }),
      );
      assert.ok(frames > 30, `${frames} frames`);
      assert.ok((await list.getByRole("option").count()) < 120, "only what is in sight is there");
      await list.evaluate((element) => void (element.scrollTop = 0));
      await list.getByText("line 0 of", { exact: false }).first().waitFor();
      await dashboard.look("large-logs");
    });
  });
}

/** Does something while every frame is measured; gives how many there were. */
async function smoothly(page: Page, run: () => Promise<void>): Promise<number> {
  const idle = await framesDuring(page, () => page.waitForTimeout(IDLE_MS));
  const busy = await framesDuring(page, run);
  const usualMax = Math.max(FRAME_USUAL_MS, 3 * idle.usual);
  assert.ok(
    busy.worst < Math.max(FRAME_WORST_MS, 5 * idle.worst),
    `worst frame ${busy.worst} ms, idle ${idle.worst} ms`,
  );
  assert.ok(busy.usual < usualMax, `three in four frames within ${busy.usual} ms, idle ${idle.usual} ms`);
  return busy.count;
}

async function framesDuring(page: Page, run: () => Promise<void>) {
  await page.evaluate(() => {
    const times: number[] = [];
    const tick = (atMs: number) => {
      times.push(atMs);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    Object.assign(globalThis, { frameTimes: times });
  });
  await run();
  const times = await page.evaluate(() => (globalThis as unknown as { frameTimes: number[] }).frameTimes);
  const lengths = times.slice(1).map((atMs, index) => atMs - (times[index] ?? atMs));
  const sorted = lengths.toSorted((one, other) => one - other);
  return {
    count: lengths.length,
    usual: sorted[Math.floor(sorted.length * 0.75)] ?? 0,
    worst: sorted.at(-1) ?? 0,
  };
}

/** Sessions of the last day and what they printed, as the service would have written them. */
function fill({ dataFolder }: ServiceProcess): void {
  using database = new DatabaseSync(join(dataFolder, "vocalhost.db"), { timeout: 10_000 });
  const agent = database
    .prepare("SELECT id, organization_id, desired_deployment_id FROM agents WHERE name = 'busy-desk'")
    .get() as Record<string, string>;
  const [id = "", organization = "", deployment = ""] = Object.values(agent);
  const nowMs = Date.now();
  const session = database.prepare(`INSERT INTO sessions
    (id, organization_id, agent_id, deployment_id, state, transport, cold_start, epoch, version, created_at, bound_at,
     active_at, start_ms, max_duration_ms, ended_at, end_reason, elapsed_ms, seconds, timeline)
    VALUES (?, ?, ?, ?, 'ended', 'webrtc', ?, 1, 1, ?, ?, ?, ?, 7200000, ?, 'client-left', ?, ?, '{}')`);
  const line = database.prepare(`INSERT INTO log_lines
    (instance_id, position, organization_id, agent_id, deployment_id, session_id, at, nanos, text)
    VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?)`);
  database.exec("BEGIN IMMEDIATE");
  for (let index = 0; index < SESSIONS; index += 1) {
    const startedMs = nowMs - 80_000_000 + index * 79_000;
    const lengthMs = 30_000 + ((index * 7_919) % 300_000);
    const isCold = index % 10 === 0 ? 1 : 0;
    const startMs = isCold ? 900 + (index % 400) : 60 + (index % 90);
    const at = [startedMs, startedMs, startedMs + startMs];
    const endedMs = Math.min(nowMs, startedMs + lengthMs);
    session.run(
      randomUUID(),
      organization,
      id,
      deployment,
      isCold,
      ...at,
      startMs,
      endedMs,
      lengthMs,
      Math.floor(lengthMs / 1000),
    );
  }
  const instance = randomUUID();
  for (let index = 0; index < LINES; index += 1)
    line.run(
      instance,
      index,
      organization,
      id,
      deployment,
      nowMs - LINES * 10 + index * 10,
      0,
      `line ${index} of ${LINES} with words enough to be as long as what bots usually print`,
    );
  database.exec("COMMIT");
}
