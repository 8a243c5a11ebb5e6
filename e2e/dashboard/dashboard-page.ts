import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { ServiceProcess } from "../harness/service-process.ts";

const SCREENSHOTS = fileURLToPath(new URL("../screenshots/", import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const PATIENCE_MS = 60_000; // generous: two cores may carry a browser, instances and other tests

export const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 860 } };
export const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 780 },
  hasTouch: true,
  isMobile: true,
};

export const OWNER = { email: "olivia@example.com", password: "correct horse battery" };

/** A browser window on the dashboard of a service. */
export interface Dashboard extends AsyncDisposable {
  readonly page: Page;
  readonly origin: string;
  /** Keeps a picture and lets axe look for what would keep people out. */
  look(name: string): Promise<void>;
  go(path: string): Promise<void>;
  /** What the browser complained about. */
  readonly complaints: string[];
}

export async function openDashboard(
  browser: Browser,
  service: Pick<ServiceProcess, "apiUrl">,
  options: BrowserContextOptions & { signedIn?: boolean } = {},
): Promise<Dashboard> {
  const { signedIn = true, ...contextOptions } = options;
  const origin = service.apiUrl.replace(/\/v1$/, "");
  const context = await browser.newContext({ ...desktop, ...contextOptions });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on("console", (message) => {
    // What the service refuses, the browser says as well; the page shows it.
    const isRefusal = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isRefusal) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  const dashboard: Dashboard = {
    page,
    origin,
    complaints,
    go: async (path) => void (await page.goto(origin + path)),
    look: async (name) => {
      mkdirSync(SCREENSHOTS, { recursive: true });
      await page.evaluate(() => document.fonts.ready.then(() => undefined));
      const charts = await page.locator("figure").count();
      if (charts > 0)
        await page
          .locator(`figure .uplot`)
          .nth(charts - 1)
          .waitFor({ state: "attached" });
      await page.screenshot({ path: join(SCREENSHOTS, `dashboard-${name}.png`) });
      await findNoBarrier(page, name);
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
  if (signedIn) await signIn(dashboard);
  return dashboard;
}

/** Makes the owner, with the link that the service printed. */
export async function redeemOwnerLink(dashboard: Dashboard, service: ServiceProcess): Promise<void> {
  const { page, origin } = dashboard;
  const { ownerLink } = JSON.parse(readFileSync(join(service.dataFolder, "first-run.json"), "utf8")) as {
    ownerLink: string;
  };
  await page.goto(origin + new URL(ownerLink).pathname + new URL(ownerLink).hash);
  await page.getByLabel("E-mail").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
}

async function signIn({ page, origin }: Dashboard): Promise<void> {
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel("E-mail").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
}

interface AxeResult {
  violations: {
    id: string;
    impact: string;
    help: string;
    nodes: { html: string; failureSummary: string }[];
  }[];
}

/** By the debugger's door: the page's own policy would not let a foreign script in. */
async function findNoBarrier(page: Page, name: string): Promise<void> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResult> } };
    return axe.run();
  });
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(
    serious.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`,
    ),
    [],
    name,
  );
}
