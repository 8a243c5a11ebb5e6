// React applications with the released `client-react` and `voice-ui-kit`, against a real runner in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { watchPage } from "../conformance/page-watch.ts";
import { launchChromium } from "../harness/chromium.ts";
import { startClientPages, type ClientPages } from "../harness/client-pages.ts";
import { startRunnerProcess, type RunnerProcess } from "../harness/runner-process.ts";
import { openWatchedPage, PATIENCE_MS, type WatchedPage } from "../harness/watched-page.ts";
import { until } from "../../testing/wait.ts";

const PAGE_FOLDER = fileURLToPath(new URL("./react-clients/", import.meta.url));

let pages: ClientPages;
let runner: RunnerProcess;
let browser: Browser;

before(async () => {
  pages = await startClientPages(PAGE_FOLDER);
  [runner, browser] = await Promise.all([
    startRunnerProcess({ bot: "e2e/bots/conformance-bot.ts" }),
    launchChromium(),
  ]);
});

after(async () => {
  await browser?.close();
  await runner?.[Symbol.asyncDispose]();
  await pages?.[Symbol.asyncDispose]();
});

test("hooks and components of client-react reach ready, mute and hang up", async () => {
  await using application = await openApplication("hooks");
  const { page } = application;
  await page.getByText("disconnected", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByText("ready", { exact: true }).first().waitFor();
  await page.getByText("The bot has a voice").waitFor();
  await application.hears();
  await page.getByRole("button", { name: "Mute", exact: true }).click();
  await page.getByRole("button", { name: "Unmute" }).click();
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("disconnected", { exact: true }).waitFor();
});

test("the console of voice-ui-kit reaches ready and hangs up", async () => {
  await using application = await openApplication("kit");
  const { page } = application;
  // The kit has a second layout for phones, hidden on this screen.
  const stateOf = (who: "Client" | "Agent", state: RegExp): Promise<void> =>
    page.locator(`dt:text-is("${who}") + dd`, { hasText: state }).filter({ visible: true }).waitFor();
  await stateOf("Client", /^initialized$/i); // a click before goes nowhere
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await stateOf("Client", /^ready$/i);
  await stateOf("Agent", /^ready$/i);
  await application.hears();
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("button", { name: "Connect", exact: true }).waitFor();
});

interface Application extends WatchedPage {
  /** Resolves when an element of the page plays the bot. */
  hears(): Promise<void>;
}

async function openApplication(which: "hooks" | "kit"): Promise<Application> {
  const opened = await openWatchedPage(browser, { isComplaint: () => false });
  const { page, complaints } = opened;
  const watch = watchPage(page, [pages.origin, runner.url]);
  await page.goto(`${pages.origin}/#${which}=${runner.url}/start`);
  return {
    ...opened,
    async hears() {
      await until(() => page.evaluate(isPlaying), PATIENCE_MS, "voice of the bot");
    },
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      assert.deepEqual([...complaints, ...watch.problems], [], watch.console.join("\n"));
    },
  };
}

/** Whether an element plays a live track that is not the microphone's. */
function isPlaying(): boolean {
  return [...document.querySelectorAll("audio")].some(
    ({ srcObject, paused, currentTime }) =>
      !paused &&
      currentTime > 0 &&
      srcObject instanceof MediaStream &&
      srcObject.getAudioTracks().some((track) => track.readyState === "live" && !track.muted),
  );
}
