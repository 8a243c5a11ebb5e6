// One person in two organisations, one who only looks, and one who comes through a provider.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { before, describe, test } from "node:test";
import type { ServiceProcess } from "../../../harness/service-process.ts";
import { openDashboard } from "../dashboard-page.ts";
import type { DashboardStage } from "../stage.ts";

export function organizationTests(stage: DashboardStage): void {
  describe("organisations", () => {
    before(async () => {
      const region = "us-west"; // whichever is the default by now
      await stage.service.api.agents.create({
        serviceName: "front-desk",
        region,
        buildId: await stage.service.build({ "bot.ts": "export async function bot() {}" }, region),
      });
    });

    test("a switch of the organisation shows the other one's things, and its role", async () => {
      write(stage.service, (database) => {
        const other = randomUUID();
        database
          .prepare(
            "INSERT INTO organizations (id, name, verbose_name, properties, created_at) VALUES (?, ?, ?, '{}', ?)",
          )
          .run(other, "branch", "The <i>Branch</i>", Date.now());
        database
          .prepare(
            "INSERT INTO members (organization_id, user_id, role, created_at) SELECT ?, user_id, 'viewer', ? FROM members",
          )
          .run(other, Date.now());
      });
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      await page.getByRole("link", { name: "front-desk" }).waitFor();
      await page.getByRole("button", { name: /olivia@example\.com/ }).click();
      await dashboard.look("organizations");
      await page.getByRole("menuitemradio", { name: "The <i>Branch</i>" }).click();
      await page.getByText("No agents yet").waitFor();
      assert.equal(
        await page.getByRole("link", { name: "Create agent" }).count(),
        0,
        "a viewer is not offered it",
      );
      await dashboard.go("/create-agent");
      await page.getByText("Your role is read-only").waitFor();
      await page.reload();
      await page.getByRole("button", { name: /The <i>Branch<\/i>/ }).waitFor(); // the choice survives
      await dashboard.go("/agents/front-desk");
      await page.getByText("There is no agent with this name").waitFor();
    });

    test("an owner makes another organisation, and sees what it may have", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      await page.getByRole("link", { name: "front-desk" }).waitFor();
      await page.getByRole("button", { name: /olivia@example\.com/ }).click();
      await page.getByRole("menuitem", { name: "Create organisation" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Title").fill("Second & Sons");
      await dashboard.look("create-organization");
      await dialog.getByRole("button", { name: "Create organisation" }).click();
      await page.getByText("No agents yet").waitFor();
      await page.getByRole("button", { name: /Second & Sons/ }).waitFor();
      await dashboard.go("/settings/quotas");
      await page.getByText("0 / 200", { exact: true }).waitFor();
      await dashboard.look("quotas");
      const { organizations } = await stage.service.api.organizations();
      assert.deepEqual(
        organizations.map(({ name }) => name),
        ["main"],
        "a key stays in its own",
      );
      const [made] = stage.service.rows<{ verbose_name: string }>(
        "SELECT verbose_name FROM organizations WHERE name = ?",
        "second-sons",
      );
      assert.equal(made?.verbose_name, "Second & Sons");
    });

    test("who comes through the provider without an invitation is told so", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service, { signedIn: false });
      const { page } = dashboard;
      await dashboard.go("/sign-in");
      await page.getByRole("button", { name: "Sign in with your organisation" }).waitFor();
      await dashboard.look("sign-in-provider");
      await page.getByRole("button", { name: "Sign in with your organisation" }).click();
      await page.getByText("You do not belong to an organisation").waitFor();
      await dashboard.look("no-organization");
    });

    test("and who was let in is", async () => {
      write(stage.service, (database) => {
        const user = database.prepare("SELECT id FROM authUsers WHERE email = 'piet@example.com'").get() as {
          id: string;
        };
        const main = database.prepare("SELECT id FROM organizations WHERE name = 'main'").get() as {
          id: string;
        };
        database
          .prepare(
            "INSERT INTO members (organization_id, user_id, role, created_at) VALUES (?, ?, 'viewer', 1)",
          )
          .run(main.id, user.id);
      });
      await using dashboard = await openDashboard(stage.browser, stage.service, { signedIn: false });
      const { page } = dashboard;
      await dashboard.go("/agents/front-desk/settings");
      await page.getByRole("button", { name: "Sign in with your organisation" }).click();
      await page.getByText("Your role is read-only.").waitFor();
      assert.equal(new URL(page.url()).pathname, "/agents/front-desk/settings");
      assert.equal(await page.getByRole("button", { name: "Delete agent" }).count(), 0);
      await dashboard.look("viewer-configuration");
    });
  });
}

function write({ dataFolder }: ServiceProcess, change: (database: DatabaseSync) => void): void {
  using database = new DatabaseSync(join(dataFolder, "vocalhost.db"), { timeout: 10_000 });
  change(database);
}
