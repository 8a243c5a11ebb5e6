// Getting into the dashboard, and what keeps others out.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { until } from "../../../../testing/wait.ts";
import { openDashboard, OWNER, phone, redeemOwnerLink, rememberOwner } from "../dashboard-page.ts";
import type { DashboardStage } from "../stage.ts";
import { PATIENCE_MS } from "../../../harness/watched-page.ts";

export function signInTests(stage: DashboardStage): void {
  describe("signing in", () => {
    test("the owner's link makes an account once, and the way back in is its password", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service, { signedIn: false });
      const { page } = dashboard;
      await dashboard.go("/settings/keys");
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await dashboard.look("sign-in");
      await dashboard.go("/owner");
      await page.getByText("The part after the # is missing").waitFor();
      await redeemOwnerLink(dashboard, stage.service);
      assert.equal(new URL(page.url()).hash, "", "the link's secret is gone from the address");
      await page.getByText("No agents yet").waitFor();
      await dashboard.look("agents-empty");

      const cookies = await page.context().cookies();
      const session = cookies.find(({ name }) => name.startsWith("__Host-"));
      assert.ok(session, JSON.stringify(cookies.map(({ name }) => name)));
      assert.deepEqual(
        [session.httpOnly, session.secure, session.sameSite, session.path],
        [true, true, "Lax", "/"],
      );

      await page.getByRole("button", { name: OWNER.email }).click();
      await dashboard.look("account-menu");
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();

      await page.getByLabel("E-mail").fill(OWNER.email);
      await page.getByLabel("Password").fill("not the password");
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByText("Wrong e-mail or password").waitFor();
      await dashboard.look("sign-in-wrong");

      await dashboard.go("/usage");
      await page.getByLabel("E-mail").fill(OWNER.email);
      await page.getByLabel("Password").fill(OWNER.password);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
      assert.equal(new URL(page.url()).pathname, "/usage", "back to the page that was asked for");
      await rememberOwner(dashboard, stage.service);
      assert.deepEqual(dashboard.complaints, []);
    });

    test("a used link signs no user in", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service, {
        signedIn: false,
        ...phone,
      });
      const { page } = dashboard;
      await dashboard.go("/owner#used-up");
      await page.getByLabel("E-mail").fill("mallory@example.com");
      await page.getByLabel("Password").fill("long enough to be one");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByText("This link has been used or has expired").waitFor();
      await dashboard.look("phone-owner-used");
    });

    test("a command line is signed in with its code", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page, origin } = dashboard;
      const asked = await fetch(`${origin}/auth/device/code`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ client_id: "vocalhost-cli", scope: "openid" }),
      });
      const device = (await asked.json()) as { device_code: string; user_code: string };
      await dashboard.go(`/device?user_code=${device.user_code}`);
      await page.getByText(`It will act as ${OWNER.email}`).waitFor();
      await dashboard.look("device");
      await page.getByRole("button", { name: "Allow" }).click();
      await page.getByRole("heading", { name: "The command line is signed in" }).waitFor();
      const token = await until(
        async () => {
          const answer = await fetch(`${origin}/auth/device/token`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({
              grant_type: "urn:ietf:params:oauth:grant-type:device_code",
              device_code: device.device_code,
              client_id: "vocalhost-cli",
            }),
          });
          const body = (await answer.json()) as { access_token?: string };
          return body.access_token;
        },
        PATIENCE_MS,
        "token",
      );
      const user = await fetch(`${origin}/v1/users`, { headers: { authorization: `Bearer ${token}` } });
      assert.match(await user.text(), /olivia@example\.com/);
    });

    test("another page in the same browser can neither change anything nor read", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page, origin } = dashboard;
      const foreign = createServer((_request, response) =>
        response.setHeader("content-type", "text/html").end("<p>foreign</p>"),
      );
      const { promise, resolve } = Promise.withResolvers<void>();
      foreign.listen(0, "localhost", resolve);
      await promise;
      try {
        const keysBefore = (await stage.service.api.keys.list()).private.length;
        // The same host under another port: the strictest cookie still comes along.
        await page.goto(`http://localhost:${(foreign.address() as AddressInfo).port}/`);
        const attempts = await page.evaluate(
          async (target) => {
            const body = JSON.stringify({ name: "stolen", type: "private" });
            const tries: [string, RequestInit][] = [
              [`${target}/v1/keys`, { method: "POST", body, headers: { "content-type": "text/plain" } }],
              [`${target}/v1/keys`, { method: "POST", body, mode: "no-cors" }],
              [
                `${target}/v1/keys`,
                { method: "POST", body, headers: { "content-type": "application/json" } },
              ],
              [`${target}/v1/keys`, {}],
              [`${target}/auth/sign-out`, { method: "POST", mode: "no-cors" }],
            ];
            const results: string[] = [];
            for (const [address, init] of tries)
              results.push(
                await fetch(address, { ...init, credentials: "include" }).then(
                  (response) => `${response.type} ${response.status}`,
                  () => "refused",
                ),
              );
            return results;
          },
          origin.replace("127.0.0.1", "localhost"),
        );
        for (const attempt of attempts) assert.match(attempt, /^(refused|opaque 0)$/);
        assert.equal((await stage.service.api.keys.list()).private.length, keysBefore);
        await dashboard.go("/agents");
        await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor(); // no user was signed out

        const framed = await page.request.get(`${origin}/agents`);
        const policy = framed.headers()["content-security-policy"] ?? "";
        assert.match(policy, /frame-ancestors 'none'/);
        assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval/);
        await page.evaluate(() => {
          const script = document.createElement("script");
          script.textContent = "document.body.dataset.ran = 'yes'";
          document.body.append(script);
        });
        assert.equal(
          await page.evaluate(() => document.body.dataset["ran"]),
          undefined,
          "inline code does not run",
        );
      } finally {
        foreign.close();
        foreign.closeAllConnections();
      }
    });

    test("the first view is small", async () => {
      await using dashboard = await openDashboard(stage.browser, stage.service);
      const { page } = dashboard;
      await page.reload();
      await page.getByText("No agents yet").waitFor();
      const bytes = await page.evaluate(() =>
        performance
          .getEntriesByType("resource")
          .filter((entry): entry is PerformanceResourceTiming => entry instanceof PerformanceResourceTiming)
          .filter(({ name }) => /\.(?:js|css|svg)$/.test(new URL(name).pathname))
          .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
      );
      assert.ok(bytes > 50_000 && bytes < 320_000, `${bytes} bytes`);
    });
  });
}
