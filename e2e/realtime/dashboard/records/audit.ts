// The audit log, as an owner reads it: real service, real browser.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openDashboard, OWNER } from "../dashboard-page.ts";
import type { DashboardStage } from "../stage.ts";

export function auditTests(stage: DashboardStage): void {
  describe("the audit trail", () => {
    test("the audit page tells changes in sentences, filters them and links to what they are about", async () => {
      await stage.service.api.secrets.put("parrot-keys", {
        secrets: [{ secretKey: "MODEL_KEY", secretValue: "not to be seen" }],
      });
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      await page.getByRole("link", { name: "Audit" }).click();
      await page.getByRole("heading", { name: "Audit", level: 1 }).waitFor();
      const rows = page.getByRole("table", { name: "Audit trail" }).locator("tbody tr");
      const set = rows.filter({ hasText: /Key .* created secret set parrot-keys/ });
      await set.waitFor();
      await rows.filter({ hasText: `added member ${OWNER.email}` }).waitFor();
      assert.ok(!(await page.content()).includes("not to be seen"));
      await dashboard.look("audit");

      await page.getByLabel("Action").selectOption({ label: "created secret set" });
      await page.waitForURL(/action=secrets-created/);
      await rows.nth(1).waitFor({ state: "detached" });
      await page.getByLabel("About").fill("nothing like this");
      await page.getByText("No entries match").waitFor();
      await page.getByLabel("About").fill("PARROT");
      await set.getByRole("link", { name: "parrot-keys" }).click();
      await page.getByRole("heading", { name: "Secrets", level: 1 }).waitFor();
    });
  });
}
