// The built documentation site, served as the service serves it, in a browser.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { silentLog } from "@vocalhost/base/log";
import { createApiApp } from "../../packages/control-plane/src/api/create-api-app.ts";
import { mountDocs } from "../../packages/control-plane/src/api/dashboard/mount-docs.ts";
import { launchChromium } from "../harness/chromium.ts";
import { openWatchedPage, type WatchedPage } from "../harness/watched-page.ts";
import { runProgram } from "../harness/program.ts";
import { findNoBarrier } from "../realtime/dashboard/dashboard-page.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const SITE = join(REPOSITORY, "packages/control-plane/docs-page");
const BUILD_MAX_MS = 10 * 60_000;
const app = createApiApp(silentLog);
let browser: Browser;
let origin = "";

before(async () => {
  const built = await runProgram(join(REPOSITORY, "scripts/docs-site/build.ts"), {
    workingFolder: REPOSITORY,
    environment: { NODE_OPTIONS: "--conditions=@vocalhost/source" },
    timeoutMs: BUILD_MAX_MS,
  });
  assert.equal(built.code, 0, built.output + built.errors);
  mountDocs(app);
  origin = await app.listen({ host: "127.0.0.1", port: 0 });
  browser = await launchChromium();
});
after(async () => {
  await browser.close();
  await app.close();
});

const openSite = (options: { width?: number; colorScheme?: "light" | "dark" } = {}): Promise<WatchedPage> =>
  openWatchedPage(browser, {
    viewport: { width: options.width ?? 1280, height: 860 },
    colorScheme: options.colorScheme ?? "light",
    isComplaint: (message) => message.type() === "error",
  });

test("every link of the site leads to a page, and every anchor to a heading", () => {
  const pages = new Map(
    globSync("**/*.html", { cwd: SITE }).map((name) => [name, readFileSync(join(SITE, name), "utf8")]),
  );
  assert.ok(pages.size > 60);
  for (const [name, html] of pages)
    for (const [, href = ""] of html.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
      if (/^(?:https?:|mailto:)/.test(href)) continue;
      const { pathname, hash } = new URL(href, `http://site/docs/${name}`);
      const path = decodeURIComponent(pathname.replace(/^\/docs\//, ""));
      const found = pages.get(path) ?? pages.get(`${path}.html`) ?? pages.get(`${path}index.html`);
      assert.ok(found, `${name}: ${href}`);
      const anchor = decodeURIComponent(hash.slice(1));
      assert.ok(anchor === "" || found.includes(`id="${anchor}"`), `${name}: ${href}`);
    }
});

const TASKS: [query: string, page: RegExp][] = [
  ["phone number", /carriers\/deployed/],
  ["why call end", /reference|bots|troubleshooting|rest/],
  ["move to postgres", /hosted\/operating/],
  ["write filter", /bots|reference\/sdk/],
  ["limit key", /web|rest|cli|commands/],
];

test("the search finds the page of a task", async () => {
  await using opened = await openSite();
  const { page } = opened;
  await page.goto(`${origin}/docs/`);
  for (const [query, expected] of TASKS) {
    await page.getByRole("button", { name: "Search" }).click();
    await page.locator("#localsearch-input").fill(query);
    const first = page.locator(".results .result");
    await first.first().waitFor();
    const links = await first.evaluateAll((all) => all.slice(0, 5).map((each) => each.getAttribute("href")));
    assert.ok(
      links.some((link) => expected.test(link ?? "")),
      `${query}: ${links.join(" ")}`,
    );
    await opened.shoot(`docs-search-${query.replaceAll(" ", "-")}`);
    await page.keyboard.press("Escape");
  }
  assert.deepEqual(opened.complaints, []);
});

test("pages fit wide and narrow, light and dark, and keep no reader out", async () => {
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1280, 390]) {
      await using opened = await openSite({ width, colorScheme });
      for (const path of ["", "start", "hosted/rest", "reference/sdk/filters"]) {
        const name = `docs ${path || "home"} ${colorScheme} ${width}`;
        await opened.page.goto(`${origin}/docs/${path}`);
        await opened.page.locator("#app h1").first().waitFor();
        await opened.assertFits(name);
        await opened.shoot(name.replaceAll(/[ /]/g, "-"));
        await findNoBarrier(opened.page, name);
      }
      assert.deepEqual(opened.complaints, []);
    }
});
