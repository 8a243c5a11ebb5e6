// The talk button on pages of others, with a real runner in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launchChromium } from "./harness/chromium.ts";
import { startForeignPage, type ForeignPage } from "./harness/foreign-page.ts";
import { call } from "./harness/raw-http.ts";
import { startRunnerProcess, type RunnerProcess } from "./harness/runner-process.ts";
import { openWatchedPage, PATIENCE_MS, type WatchedPage } from "./harness/watched-page.ts";
import { until } from "../testing/wait.ts";

let shop: ForeignPage;
let runner: RunnerProcess;
let browser: Browser;

before(async () => {
  await import("../scripts/build-client-page.ts");
  shop = await startForeignPage();
  [runner, browser] = await Promise.all([
    startRunnerProcess({ bot: "e2e/bots/probe-bot.ts", flags: ["--allowed-origins", originOf("shop")] }),
    // Newer browsers keep pages from the local network by themselves; here it must be the runner that does.
    launchChromium({ args: ["--disable-features=LocalNetworkAccessChecks"] }),
  ]);
  shop.write(`<h1>Shop</h1><script async src="${runner.url}/embed.js" data-label="Ask us"></script>`);
});

after(async () => {
  await browser?.close();
  await runner?.[Symbol.asyncDispose]();
  await shop?.[Symbol.asyncDispose]();
});

test("one line of HTML puts a button on an allowed page that talks, mutes and hangs up", async () => {
  await using visit = await openShop("shop");
  const { page } = visit;
  await page.getByRole("button", { name: "Ask us" }).click();
  await page.getByRole("button", { name: "Mute" }).click();
  await page.getByRole("button", { name: "Unmute" }).waitFor();
  await page.getByRole("button", { name: "Hang up" }).click();
  await page.getByRole("button", { name: "Ask us" }).waitFor();
  const [made, ...more] = await until(endedCalls, PATIENCE_MS, "end of the session");
  assert.deepEqual([made?.kind, made?.ended, more], ["webrtc", "client-left", []]);
  assert.deepEqual(visit.complaints, []);
});

test("on a page that is not allowed the button starts nothing, and tells visitor and developer", async () => {
  const before = await figures();
  await using visit = await openShop("evil");
  const { page, complaints } = visit;
  await page.getByRole("button", { name: "Ask us" }).click();
  await page.getByRole("status").getByText("Nobody can be reached right now").waitFor();
  const isTold = (): boolean => complaints.some((text) => text.startsWith("vocalhost: The runner refused"));
  await until(isTold, PATIENCE_MS, "line in the console");
  assert.deepEqual(await figures(), before);
});

interface Call {
  kind: string;
  ended: string | null;
}

/** A foreign origin that may have the microphone: browsers trust these names, and the runner does not. */
function originOf(name: string): string {
  return `http://${name}.localhost:${shop.port}`;
}

async function openShop(name: string): Promise<WatchedPage> {
  const visit = await openWatchedPage(browser, {
    viewport: { width: 800, height: 500 },
    isComplaint: (message) => message.type() === "error",
  });
  await visit.page.goto(originOf(name));
  return visit;
}

async function calls(): Promise<Call[]> {
  return (await call(runner.port, "GET /calls")).json();
}

async function endedCalls(): Promise<Call[] | undefined> {
  const all = await calls();
  return all.every(({ ended }) => ended !== null) ? all : undefined;
}

/** Sessions that were ever run, and those there are now. */
async function figures(): Promise<number[]> {
  const { sessions } = (await call(runner.port, "GET /figures")).json() as { sessions: number };
  return [(await calls()).length, sessions];
}
