import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, ConsoleMessage, Page } from "playwright-core";
import { patientMs } from "../../testing/patience.ts";
import { openContext } from "./chromium.ts";

/** A browser window of its own, whose complaints are written down. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /** Errors and complaints of the page or the browser. */
  readonly complaints: string[];
  /** Keeps a picture if VOCALHOST_TEST_PICTURES is set. */
  shoot(name: string): Promise<void>;
  /** Nothing sticks out to the side. */
  assertFits(what: string): Promise<void>;
}

export interface WatchedPageOptions extends BrowserContextOptions {
  /** Which lines of the console are complaints; errors of the page always are. */
  isComplaint(message: ConsoleMessage): boolean;
}

const SCREENSHOTS = fileURLToPath(new URL("../screenshots/", import.meta.url));
const areWanted = process.env["VOCALHOST_TEST_PICTURES"] !== undefined; // no assertion uses them
export const PATIENCE_MS = 60_000; // generous: two cores may carry a browser, bots and other tests

export async function openWatchedPage(browser: Browser, options: WatchedPageOptions): Promise<WatchedPage> {
  const { isComplaint, ...contextOptions } = options;
  const context = await openContext(browser, { reducedMotion: "reduce", ...contextOptions }); // drawing by software takes a core
  context.setDefaultTimeout(patientMs(PATIENCE_MS));
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => void (isComplaint(message) && complaints.push(message.text())));
  return {
    page,
    complaints,
    async shoot(name) {
      if (!areWanted) return;
      mkdirSync(SCREENSHOTS, { recursive: true });
      await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
    },
    async assertFits(what) {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${what} is ${wide} px too wide`);
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
