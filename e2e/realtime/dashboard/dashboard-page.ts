import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Cookie, Page } from "playwright-core";
import type { ServiceProcess } from "../../harness/service-process.ts";
import { openWatchedPage, type WatchedPage } from "../../harness/watched-page.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 860 } };
export const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 780 },
  hasTouch: true,
  isMobile: true,
};

/** The cookies of a signed-in owner, so that not every window has to type a password. */
const cookies = new WeakMap<Pick<ServiceProcess, "apiUrl">, Cookie[]>();

export const OWNER = { email: "olivia@example.com", password: "correct horse battery" };

/** A browser window on the dashboard of a service. */
export interface Dashboard extends WatchedPage {
  readonly origin: string;
  /** Keeps a picture where that was asked for, and lets axe look for what would keep people out. */
  look(name: string): Promise<void>;
  go(path: string): Promise<void>;
}

export async function openDashboard(
  browser: Browser,
  service: Pick<ServiceProcess, "apiUrl">,
  options: BrowserContextOptions & { signedIn?: boolean } = {},
): Promise<Dashboard> {
  const { signedIn = true, ...contextOptions } = options;
  const origin = service.apiUrl.replace(/\/v1$/, "");
  const known = signedIn ? cookies.get(service) : undefined;
  const opened = await openWatchedPage(browser, {
    ...desktop,
    ...contextOptions,
    ...(known ? { storageState: { cookies: known, origins: [] } } : {}),
    // The browser also reports refused requests, which the page shows.
    isComplaint: (message) =>
      message.type() === "error" && !message.text().startsWith("Failed to load resource"),
  });
  const { page } = opened;
  const dashboard: Dashboard = {
    ...opened,
    origin,
    go: async (path) => void (await page.goto(origin + path)),
    look: async (name) => {
      await page.evaluate(() => document.fonts.ready.then(() => undefined));
      const charts = await page.locator("figure").count();
      if (charts > 0)
        await page
          .locator(`figure .uplot`)
          .nth(charts - 1)
          .waitFor({ state: "attached" });
      await opened.shoot(`dashboard-${name}`);
      await findNoBarrier(page, name);
    },
  };
  if (signedIn) {
    await (known ? dashboard.go("/agents") : signIn(dashboard));
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    if (!known) await rememberOwner(dashboard, service);
  }
  return dashboard;
}

/** Windows opened from now on are signed in as this one is. */
export async function rememberOwner(
  { page }: Dashboard,
  service: Pick<ServiceProcess, "apiUrl">,
): Promise<void> {
  cookies.set(service, await page.context().cookies());
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
  await rememberOwner(dashboard, service);
}

async function signIn({ page, origin }: Dashboard): Promise<void> {
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel("E-mail").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

interface AxeResult {
  violations: {
    id: string;
    impact: string;
    help: string;
    nodes: { html: string; failureSummary: string }[];
  }[];
}

/** Runs axe by the debugger, because the page's own policy would not let a foreign script in. */
export async function findNoBarrier(page: Page, name: string): Promise<void> {
  const isThere = await page.evaluate(() => "axe" in globalThis);
  if (!isThere) await page.evaluate(AXE);
  const { violations } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResult> } };
    // Describing what passed takes longest, and no rule of ours reads style sheets.
    return axe.run({ resultTypes: ["violations"], preload: { assets: ["media"] } });
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
