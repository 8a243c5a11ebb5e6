// How far back a log is looked at: real service, real instances, a real browser.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import type { ServiceProcess } from "../../../harness/service-process.ts";
import { until } from "../../../../testing/wait.ts";
import { openDashboard, phone } from "../dashboard-page.ts";
import type { DashboardStage } from "../stage.ts";
import { PATIENCE_MS } from "../../../harness/watched-page.ts";

const BOT = `
let count = 0;
setInterval(() => console.log("tick", count += 1), 250);
export async function bot() {}
`;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const BACKLOG = 700; // more than a tail begins with
const OLD_LINES = [
  { text: "printed two days ago", agoMs: 48 * HOUR_MS },
  { text: "printed two hours ago", agoMs: 2 * HOUR_MS },
  { text: "printed forty minutes ago", agoMs: 40 * MINUTE_MS },
  { text: "printed a minute ago", agoMs: MINUTE_MS },
];

export function logTests(stage: DashboardStage): void {
  describe("logs over time", () => {
    before(async () => {
      const autoScaling = { minAgents: 1, maxAgents: 2 };
      await stage.service.deploy({ name: "night-desk", files: { "bot.ts": BOT }, autoScaling });
      fill(stage.service);
    });
    after(() => stage.service.api.agents.delete("night-desk"));

    test("a log is looked at as far back as was chosen, together with a search", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      await dashboard.go("/agents/night-desk/logs");
      await page.getByLabel("Search").fill("printed");
      const expected = [
        ["Any time", 4],
        ["Last 15 minutes", 1],
        ["Last hour", 2],
        ["Last 24 hours", 3],
        ["Last 7 days", 4],
      ] as const;
      assert.deepEqual(
        await page.getByLabel("Time").locator("option").allInnerTexts(),
        expected.map(([label]) => label),
      );
      for (const [label, count] of expected) {
        await page.getByLabel("Time").selectOption({ label });
        await showsLines(page, OLD_LINES.slice(-count));
      }

      await page.getByLabel("Time").selectOption({ label: "Last hour" });
      assert.match(page.url(), /[?&]range=1h$/);
      await page.reload();
      assert.equal(await page.getByLabel("Time").inputValue(), "1h");
      await page.getByLabel("Search").fill("printed");
      await showsLines(page, OLD_LINES.slice(-2));
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download" }).click();
      const file = readFileSync(await (await downloading).path(), "utf8");
      assert.deepEqual(file.match(/printed .*/g), ["printed forty minutes ago", "printed a minute ago"]);
      await page.getByLabel("Search").fill("printed two");
      await page.getByText("No matching lines").waitFor();
      await page.getByLabel("Time").selectOption({ label: "Last 7 days" });
      await showsLines(page, OLD_LINES.slice(0, 2));
      await dashboard.look("logs-days");
      assert.deepEqual(dashboard.complaints, []);
    });

    test("all of a range is there, nothing from before it, and it goes on growing", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      await dashboard.go("/agents/night-desk/logs?range=1h");
      await page.getByLabel("Search").fill("backlog");
      await page.getByText(`Live · ${BACKLOG} lines`).waitFor();
      await page.getByRole("button", { name: "Load earlier lines" }).click();
      await page.getByText("No earlier lines in this period").waitFor();
      await page.getByText(`Live · ${BACKLOG} lines`).waitFor();

      await page.getByLabel("Search").fill("tick");
      await page.getByText(/Live · [1-9]\d* lines/).waitFor();
      const ticks = linesOf(page).getByText(/^tick \d+$/);
      const newest = async () => Number(/\d+/.exec(await ticks.last().innerText())?.[0]);
      const before = await newest();
      await until(async () => (await newest()) > before + 4, PATIENCE_MS, "lines printed since");
      await dashboard.look("logs-range");
      assert.deepEqual(dashboard.complaints, []);
    });

    test("on a phone", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service, phone);
      const { page } = dashboard;
      await dashboard.go("/agents/night-desk/logs?range=15m");
      await page
        .getByText(/tick \d+/)
        .first()
        .waitFor();
      await dashboard.look("phone-logs-range");
      await dashboard.assertFits("logs");
    });
  });
}

function linesOf(page: Page): Locator {
  return page.getByRole("listbox", { name: "Log lines" }).getByRole("option");
}

async function showsLines(page: Page, lines: typeof OLD_LINES): Promise<void> {
  const expected = lines.map(({ text }) => text).join("\n");
  const shown = async () =>
    (await linesOf(page).allInnerTexts()).map((text) => text.slice(text.indexOf("printed"))).join("\n");
  await until(async () => (await shown()) === expected, PATIENCE_MS, expected);
}

/** Lines printed in the past, as the service would have stored them. */
function fill({ dataFolder }: ServiceProcess): void {
  using database = new DatabaseSync(join(dataFolder, "vocalhost.db"), { timeout: 10_000 });
  const agent = database
    .prepare("SELECT id, organization_id, desired_deployment_id FROM agents WHERE name = 'night-desk'")
    .get() as Record<string, string>;
  const [id = "", organization = "", deployment = ""] = Object.values(agent);
  const line = database.prepare(`INSERT INTO log_lines
    (instance_id, position, organization_id, agent_id, deployment_id, session_id, at, nanos, text)
    VALUES (?, ?, ?, ?, ?, NULL, ?, 0, ?)`);
  const instance = randomUUID();
  const nowMs = Date.now();
  const backlog = (agoMs: number) =>
    Array.from({ length: BACKLOG }, (_, index) => ({ text: `backlog ${index}`, agoMs: agoMs - index }));
  database.exec("BEGIN IMMEDIATE");
  for (const [position, { text, agoMs }] of [
    ...OLD_LINES,
    ...backlog(3 * HOUR_MS),
    ...backlog(30 * MINUTE_MS),
  ].entries())
    line.run(instance, position, organization, id, deployment, nowMs - agoMs, text);
  database.exec("COMMIT");
}
