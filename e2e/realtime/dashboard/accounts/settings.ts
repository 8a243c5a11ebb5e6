// Keys, secrets, regions and members, as an owner meets them: real service, real browser.
import { createApiClient } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../../../../testing/wait.ts";
import { openDashboard, phone } from "../dashboard-page.ts";
import type { DashboardStage } from "../stage.ts";
import { PATIENCE_MS } from "../../../harness/watched-page.ts";

const BOT =
  "export async function bot({ signal }) { await new Promise((resolve) => signal.addEventListener('abort', resolve)); }\n";

export function settingsTests(stage: DashboardStage): void {
  describe("settings", () => {
    test("keys: created, shown once, used, limited, revoked", async (t) => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      await page.keyboard.press("g");
      await page.keyboard.press("k");
      await page.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
      const card = (name: string) => page.getByRole("region", { name, exact: true });
      const row = (name: string) => page.getByRole("row").filter({ hasText: name });

      let value = "";
      await t.test("a private key is shown once", async () => {
        await card("Private").getByRole("button", { name: "Create key" }).click();
        const dialog = page.getByRole("dialog", { name: "Create a private key" });
        assert.ok(await dialog.getByRole("button", { name: "Create key" }).isDisabled());
        await dialog.getByLabel("Name").fill("deploys from CI");
        await dialog.getByRole("button", { name: "Create key" }).click();
        const shown = page.getByRole("region", { name: /Your new private key/ });
        value = await shown.locator("code").innerText();
        assert.match(value, /^sk_\w{36}$/);
        await shown.getByText("cannot be shown again").waitFor();
        await dashboard.look("keys-created");
        await shown.getByRole("button", { name: "Copy" }).click();
        await shown.getByRole("button", { name: "Copied" }).waitFor();
        await shown.getByRole("button", { name: "I have saved it" }).click();
        await page.reload();
        await row("deploys from CI").getByText(value.slice(-4)).filter({ visible: true }).waitFor();
        assert.ok(!(await page.content()).includes(value));
      });

      await t.test("it works, and the page says when it was used", async () => {
        await row("deploys from CI").getByText("Never").waitFor();
        assert.ok(
          (await createApiClient({ baseUrl: stage.service.apiUrl, token: value }).regions()).regions.length,
        );
        const lastUse = async () =>
          (await stage.service.api.keys.list()).private.find((key) => key.metadata.name === "deploys from CI")
            ?.lastUsedAt;
        await until(async () => (await lastUse()) !== null, PATIENCE_MS, "time of last use");
        await page.reload();
        await row("deploys from CI")
          .getByText(/ago|just now/)
          .waitFor();
      });

      await t.test("a public key is limited to agents, a rate and a number of sessions", async () => {
        await stage.service.deploy({ name: "clerk", files: { "bot.ts": BOT } });
        await page.reload();
        await card("Public").getByRole("button", { name: "Create key" }).click();
        const dialog = page.getByRole("dialog", { name: "Create a public key" });
        await dialog.getByLabel("Name").fill("web site");
        await dialog.getByLabel("All agents").uncheck();
        assert.ok(await dialog.getByRole("button", { name: "Create key" }).isDisabled(), "no agent chosen");
        await dialog.getByLabel("clerk").check();
        await dialog.getByLabel("Starts per minute").fill("many");
        await dialog.getByText("A whole number from 1").waitFor();
        await dialog.getByLabel("Starts per minute").fill("60");
        await dialog.getByLabel("Concurrent sessions").fill("5");
        await dashboard.look("keys-create-public");
        await dialog.getByRole("button", { name: "Create key" }).click();
        await page.getByRole("button", { name: "I have saved it" }).click();
        await row("web site").getByText("clerk · 60 a minute · 5 at once").waitFor();
      });

      await t.test("there are five of a kind", async () => {
        for (let name = 3; name <= 5; name += 1)
          await stage.service.api.keys.create({ type: "private", name: `key ${name}` });
        await page.reload();
        await card("Private").getByText("revoke one to create another").waitFor();
        assert.ok(await card("Private").getByRole("button", { name: "Create key" }).isDisabled());
        await dashboard.look("keys-full");
      });

      await t.test("revoked, after a question", async () => {
        await page.getByRole("button", { name: "Revoke deploys from CI" }).click();
        const dialog = page.getByRole("dialog", { name: "Revoke “deploys from CI”?" });
        await dialog.getByText("cannot be undone").waitFor();
        await dashboard.look("keys-revoke");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Revoke deploys from CI" }).click();
        await dialog.getByRole("button", { name: "Revoke key" }).click();
        await page.getByText("Key revoked.").waitFor();
        await page.getByText("4 of 5 private keys in use.").waitFor();
        const refused = createApiClient({ baseUrl: stage.service.apiUrl, token: value }).regions();
        await assert.rejects(refused, { status: 401 });
        await page.getByText("Revoked and expired").click();
        await page.getByText("deploys from CI").waitFor();
      });
      assert.deepEqual(dashboard.complaints, []);
    });

    test("secrets: made, filled, replaced, emptied, deleted; values never come back", async (t) => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      const answers: string[] = [];
      page.on("response", async (response) => {
        if (response.url().includes("/v1/")) answers.push(await response.text().catch(() => ""));
      });
      await dashboard.go("/settings/secrets");
      await page.getByText("No secrets yet").waitFor();
      await dashboard.look("secrets-empty");
      const row = (name: string) => page.getByRole("row").filter({ hasText: name });

      await t.test("a set with its first key", async () => {
        await page.getByRole("button", { name: "Create set" }).click();
        const dialog = page.getByRole("dialog", { name: "Create a secret set" });
        await dialog.getByLabel("Name", { exact: true }).fill("Bot");
        await dialog.getByText("lower-case letters").waitFor();
        await dialog.getByLabel("Name", { exact: true }).fill("front-desk");
        await dialog.getByLabel("First key").fill("OPENAI_API_KEY");
        await dialog.getByLabel("Value").fill("value-one-nobody-may-see");
        await dashboard.look("secrets-create");
        await dialog.getByRole("button", { name: "Save" }).click();
        const set = page.getByRole("dialog", { name: "front-desk" });
        await set.getByText("OPENAI_API_KEY").waitFor();
        await set.getByText("ready").waitFor();
        await set.getByLabel("Key", { exact: true }).fill("OTHER_KEY");
        await set.getByLabel("Value").fill("value-two-nobody-may-see");
        await set.getByRole("button", { name: "Add key" }).click();
        await set.getByRole("listitem").filter({ hasText: "OTHER_KEY" }).waitFor();
        await page.keyboard.press("Escape");
        await row("front-desk").getByText("No agent").waitFor();
      });

      await t.test("replaced and removed, with the agents that have to be deployed again", async () => {
        await stage.service.deploy({
          name: "receptionist",
          files: { "bot.ts": BOT },
          secretSet: "front-desk",
        });
        await page.reload();
        await row("front-desk").getByText("receptionist").waitFor();
        await page.getByRole("button", { name: "front-desk", exact: true }).click();
        const set = page.getByRole("dialog", { name: "front-desk" });
        await set.getByRole("button", { name: "Replace OTHER_KEY" }).click();
        await set.getByLabel("New value").fill("value-three-nobody-may-see");
        await set.getByRole("button", { name: "Replace value" }).click();
        await set.getByText("Redeploy receptionist").waitFor();
        await dashboard.look("secrets-set");
        await set.getByRole("button", { name: "Remove OTHER_KEY" }).click();
        await set.getByRole("button", { name: "Remove permanently" }).click();
        await set.getByRole("listitem").filter({ hasText: "OTHER_KEY" }).waitFor({ state: "detached" });
        await page.keyboard.press("Escape");
      });

      await t.test("an image-pull secret", async () => {
        await page.getByRole("button", { name: "Create set" }).click();
        const dialog = page.getByRole("dialog", { name: "Create a secret set" });
        await dialog.getByRole("radio", { name: "Image pull" }).check({ force: true });
        await dialog.getByLabel("Name", { exact: true }).fill("registry");
        await dialog.getByLabel("Region").selectOption("eu-central");
        await dialog.getByRole("textbox", { name: "Registry" }).fill("https://ghcr.io");
        await dialog.getByLabel("User name").fill("ada");
        await dialog.getByLabel("Token").fill("token-nobody-may-see");
        await dialog.getByRole("button", { name: "Save" }).click();
        await row("registry").getByText("Image pull").waitFor();
        await row("registry").getByText("eu-central").waitFor();
        await row("registry").getByText("ready").waitFor();
        await dashboard.look("secrets");
      });

      await t.test("deleted, with a warning that names who uses it", async () => {
        await page.getByRole("button", { name: "Delete front-desk" }).click();
        const dialog = page.getByRole("dialog", { name: "Delete front-desk?" });
        await dialog.getByText("In use by receptionist").waitFor();
        assert.ok(await dialog.getByRole("button", { name: "Delete set" }).isDisabled());
        await dashboard.look("secrets-delete");
        await dialog.getByLabel("Type front-desk to confirm").fill("front-desk");
        await dialog.getByRole("button", { name: "Delete set" }).click();
        await row("front-desk").waitFor({ state: "detached" });
      });
      const heard = answers.join("\n");
      assert.ok(heard.length > 1_000);
      assert.doesNotMatch(heard, /nobody-may-see/);
      assert.deepEqual(dashboard.complaints, []);
    });

    test("regions: listed, and another default is chosen", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service, { colorScheme: "dark" });
      const { page } = dashboard;
      await dashboard.go("/settings/regions");
      const row = (name: string) => page.getByRole("row").filter({ hasText: name });
      await row("US West (Oregon)").getByText("Default", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Make default: Europe (Frankfurt)" }).click();
      await row("Europe (Frankfurt)").getByText("Default", { exact: true }).waitFor();
      await dashboard.look("regions-dark");
      const { properties } = await stage.service.api.properties.get();
      assert.equal(properties.defaultRegion, "eu-central");
      assert.deepEqual(dashboard.complaints, []);
    });

    test("members: invited by a link, given a role, removed; a viewer only looks", async (t) => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      await dashboard.go("/settings/members");
      await page.getByText("(you)").waitFor();
      const row = (name: string) => page.getByRole("row").filter({ hasText: name });
      assert.equal(await page.getByRole("button", { name: /^Remove/ }).count(), 0, "the last owner stays");

      let link = "";
      await t.test("the link is shown once", async () => {
        await page.getByRole("button", { name: "Invite" }).click();
        const dialog = page.getByRole("dialog", { name: "Invite someone" });
        await dialog.getByLabel("E-mail").fill("vera@example.com");
        await dashboard.look("members-invite");
        await dialog.getByRole("button", { name: "Create link" }).click();
        link = await page
          .getByRole("region", { name: "Invitation for vera@example.com" })
          .locator("code")
          .innerText();
        assert.match(link, /\/owner#[\w-]{43}$/);
        await dashboard.look("members-invited");
        await page.getByRole("button", { name: "I have saved it" }).click();
        await row("vera@example.com").getByText("viewer").waitFor();
      });

      await using other = await openDashboard(stage.browser, stage.service, { signedIn: false, ...phone });
      await t.test("a viewer sees everything and is offered nothing", async () => {
        await other.page.goto(link);
        await other.page.getByLabel("E-mail").fill("vera@example.com");
        await other.page.getByLabel("Password").fill("a very long password");
        await other.page.getByRole("button", { name: "Create account" }).click();
        await other.page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
        await other.go("/settings/members");
        await other.page.getByText("(you)").waitFor();
        assert.equal(await other.page.getByRole("button", { name: /Invite|Remove|Cancel/ }).count(), 0);
        await other.go("/settings/keys");
        await other.page.getByText("of 5 private keys in use").waitFor();
        assert.equal(await other.page.getByRole("button", { name: /Create|Revoke/ }).count(), 0);
        await other.look("keys-phone-viewer");
        await other.go("/settings/secrets");
        await other.page.getByRole("button", { name: "registry" }).waitFor();
        assert.equal(await other.page.getByRole("button", { name: /Create|Delete/ }).count(), 0);
        await other.look("secrets-phone-viewer");
        await other.go("/agents/clerk/talk");
        await other.page.getByText("Your role is read-only").waitFor();
      });

      await t.test("an admin does more, at once", async () => {
        await page.reload();
        await page.getByLabel("Role of vera@example.com").selectOption("admin");
        await page.getByText("vera@example.com is now admin.").waitFor();
        await dashboard.look("members");
        await other.go("/settings/members");
        await other.page.getByRole("button", { name: "Invite" }).click();
        const dialog = other.page.getByRole("dialog", { name: "Invite someone" });
        assert.equal(await dialog.getByRole("radio").count(), 2, "an admin makes no owners");
        await dialog.getByLabel("E-mail").fill("mallory@example.com");
        await other.look("members-phone");
        await dialog.getByRole("button", { name: "Create link" }).click();
        await other.page.getByRole("button", { name: "I have saved it" }).click();
        await other.page
          .getByRole("button", { name: "Cancel the invitation of mallory@example.com" })
          .click();
        await other.page.getByText("The link no longer works.").waitFor();
        await other.assertFits("members");
      });

      await t.test("removed, and out", async () => {
        await page.getByRole("button", { name: "Remove vera@example.com" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Remove member" }).click();
        await row("vera@example.com").waitFor({ state: "detached" });
        await other.go("/settings/members");
        await other.page
          .getByText("You do not belong to an organisation")
          .or(other.page.getByText("You are not allowed to do this"))
          .first()
          .waitFor();
      });
      assert.deepEqual(dashboard.complaints, []);
    });
  });
}
