// Usage and its costs, in a real browser over a real ledger.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import type { ServiceProcess } from "../../../harness/service-process.ts";
import { until } from "../../../../testing/wait.ts";
import { openDashboard, phone } from "../dashboard-page.ts";
import type { DashboardStage } from "../stage.ts";
import { PATIENCE_MS } from "../../../harness/watched-page.ts";

const BOT = `export async function bot({ signal }) {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
}
`;

export function usageTests(stage: DashboardStage): void {
  describe("usage", () => {
    test("an empty month, a session, a month beyond the free minutes, another month, a file", async (t) => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      const figure = (label: string) =>
        page.locator("dl > div").filter({ has: page.getByText(label, { exact: true }) });

      await t.test("nothing was used", async () => {
        await page.keyboard.press("g");
        await page.keyboard.press("u");
        await page.getByText("No sessions have ended this month").waitFor();
        await figure("Free minutes left").getByText("10,000", { exact: true }).waitFor();
        await figure("Cost so far").getByText("nothing to pay").waitFor();
        await dashboard.look("usage-empty");
      });

      await t.test("a session counts when it has ended", async () => {
        await stage.service.deploy({
          name: "clerk",
          files: { "bot.ts": BOT },
          vendorViva: { audioFilter: "tel" },
        });
        const started = await stage.service.publicApi.sessions.start("clerk", { transport: "webrtc" });
        assert.ok("sessionId" in started);
        await until(
          () =>
            stage.service.rows<{ age: number }>(
              "SELECT unixepoch('subsec') * 1000 - bound_at AS age FROM sessions",
            )[0]!.age > 2_000,
          PATIENCE_MS,
          "two seconds of a session",
        );
        await stage.service.api.sessions.stop("clerk", started.sessionId);
        await stage.service.sessionEnded(started.sessionId);
        await dashboard.go(`/agents/clerk/sessions/${started.sessionId}`);
        await page.getByText("Billed, but not used").waitFor();
        await page.getByText("the bot never attached the filter").waitFor();
        await dashboard.go("/usage");
        await page.getByRole("row").filter({ hasText: "clerk" }).waitFor();
        await figure("Filter minutes").getByText("1", { exact: true }).waitFor();
        await figure("Free minutes left").getByText("9,999", { exact: true }).waitFor();
      });

      await t.test("a month beyond the free minutes says what it costs, exactly", async () => {
        fillMonth(stage.service);
        await page.reload();
        const { minutes, amountUsd, invoiceUsd, billableMinutes } = await stage.service.api.usage();
        assert.ok(billableMinutes > 0 && minutes > 10_000);
        await figure("Cost so far").getByText(`USD ${invoiceUsd}`, { exact: true }).waitFor();
        await figure("Cost so far").getByText(`exactly USD ${amountUsd}`).waitFor();
        const { projection } = await stage.service.api.usageDays();
        assert.ok(projection);
        await figure("Projected cost")
          .getByText(/^USD\s\d+\.\d\d$/)
          .waitFor();
        await page.getByText("of them with the voice filter").waitFor();
        await dashboard.look("usage");
        await page.getByText("As a table").click();
        await page.getByRole("table", { name: "By day" }).getByRole("row").nth(1).waitFor();
      });

      await t.test("as a file", async () => {
        const downloading = page.waitForEvent("download");
        await page.getByRole("link", { name: "CSV" }).click();
        const download = await downloading;
        assert.match(download.suggestedFilename(), /^usage-\d{4}-\d\d\.csv$/);
        const text = readFileSync(await download.path(), "utf8");
        assert.match(text, /^kind,period,session,agent/);
        assert.match(text, /clerk.*,not-attached,.*Billed, but the bot never attached the filter/);
      });

      await t.test("another month", async () => {
        await page.getByLabel("Month").selectOption({ index: 1 });
        await page.getByText("No sessions have ended this month").waitFor();
        assert.equal(await page.getByText("Projected cost").count(), 0);
      });
      assert.deepEqual(dashboard.complaints, []);
    });

    test("on a phone, in the dark", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service, {
        ...phone,
        colorScheme: "dark",
      });
      const { page } = dashboard;
      await dashboard.go("/usage");
      await page.getByText("of them with the voice filter").waitFor();
      await dashboard.assertFits("usage");
      await dashboard.look("usage-phone-dark");
      await page.getByRole("heading", { name: "By day" }).scrollIntoViewIfNeeded();
      await dashboard.look("usage-phone-days-dark");
    });
  });
}

/** The session that was, again and again on earlier days of this month, each four hours long. */
function fillMonth({ dataFolder }: ServiceProcess): void {
  using database = new DatabaseSync(join(dataFolder, "vocalhost.db"), { timeout: 5_000 });
  const columns = database.prepare("PRAGMA table_info(sessions)").all() as { name: string }[];
  const [session] = database.prepare("SELECT * FROM sessions").all() as {
    agent_id: string;
    organization_id: string;
  }[];
  assert.ok(session);
  const now = new Date();
  const month = now.toISOString().slice(0, 7);
  const startMs = Date.parse(`${month}-01T00:00:00Z`);
  const days = Math.max(1, now.getUTCDate() - 1);
  database.exec("BEGIN IMMEDIATE");
  for (let count = 0; count < 60; count += 1) {
    const isFiltered = count % 4 !== 0;
    const changes: Record<string, string> = {
      id: `'${randomUUID()}'`,
      bound_at: String(startMs + (count % days) * 86_400_000 + 3_600_000),
      seconds: String(14_000 + 100 * (count % 7)),
      filter: isFiltered ? "'tel'" : "NULL",
    };
    const values = columns.map(({ name }) => changes[name] ?? name).join(", ");
    database.exec(`INSERT INTO sessions SELECT ${values} FROM sessions LIMIT 1`);
    if (!isFiltered) continue;
    database
      .prepare(
        "INSERT INTO usage (session_id, period, organization_id, agent_id, seconds) VALUES (?, ?, ?, ?, ?)",
      )
      .run(
        changes["id"]?.slice(1, -1) ?? "",
        month,
        session.organization_id,
        session.agent_id,
        Number(changes["seconds"]),
      );
  }
  database.exec("COMMIT");
}
