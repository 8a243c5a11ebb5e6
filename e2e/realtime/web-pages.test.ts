// Web pages that talk to a bot, with a real runner in a real browser: those of others with the talk button, and the page of
// the web template.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../harness/chromium.ts";
import { startForeignPage, type ForeignPage } from "../harness/foreign-page.ts";
import { runProgram } from "../harness/program.ts";
import { call } from "../harness/raw-http.ts";
import { startRunnerProcess, type RunnerProcess } from "../harness/runner-process.ts";
import { openWatchedPage, PATIENCE_MS, type WatchedPage } from "../harness/watched-page.ts";
import { createWebProject, freePort } from "../harness/web-project.ts";
import { startOpenAi } from "../../testing/vendors/openai.ts";
import { until } from "../../testing/wait.ts";

const VOICE = fileURLToPath(
  new URL("../../packages/sdk/src/speech/fixtures/table-for-two.wav", import.meta.url),
);
const COMPILER = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const START_MS = 60_000;

let shop: ForeignPage;
let runner: RunnerProcess;
let browser: Browser;

before(async () => {
  await import("../../scripts/build-client-page.ts");
  shop = await startForeignPage();
  [runner, browser] = await Promise.all([
    startRunnerProcess({ bot: "e2e/bots/probe-bot.ts", flags: ["--allowed-origins", originOf("shop")] }),
    // Newer browsers keep pages from the local network by themselves; here it must be the runner that does.
    launchChromium({ microphone: VOICE, args: ["--disable-features=LocalNetworkAccessChecks"] }),
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
  await page.getByRole("status").getByText("The call could not be connected").waitFor();
  const isTold = (): boolean => complaints.some((text) => text.startsWith("vocalhost: The runner refused"));
  await until(isTold, PATIENCE_MS, "line in the console");
  assert.deepEqual(await figures(), before);
});

test("the web template: bot and page start together, talk, and say so when the bot is gone", async () => {
  await using models = await startOpenAi({
    hear: () => "A table for two, please.",
    answer: () => "Tonight we have one at eight.",
  });
  using project = createWebProject();
  const { code, output } = await runProgram(COMPILER, {
    args: ["-p", "page"],
    workingFolder: project.path,
    timeoutMs: START_MS,
  });
  assert.equal(code, 0, output);
  const port = await freePort();
  const dev = await project.dev({
    port,
    environment: {
      VITE_BOT_URL: `http://localhost:${port}/start`,
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: models.url,
    },
  });
  await using ending = dev;
  await using visit = await openWatchedPage(browser, {
    viewport: { width: 800, height: 900 },
    isComplaint: (message) => /failed to load|violat/i.test(message.text()),
  });
  const { page } = visit;
  await page.goto(dev.url);
  await page.getByRole("button", { name: "Talk" }).click();
  const transcript = page.getByRole("list", { name: "Transcript" });
  await transcript.getByText("Welcome to Trattoria Rosa!").waitFor();
  await transcript.getByText("A table for two, please.").first().waitFor();
  await transcript.getByText("Tonight we have one at eight.").first().waitFor();
  for (const name of ["You", "Bot"]) await movesUp(page, name);
  await visit.shoot("web-template-live");
  await page.getByRole("button", { name: "Mute" }).click();
  await page.getByText("You are muted.").waitFor();
  await page.getByRole("button", { name: "Hang up" }).click();
  await page.getByText("Press Talk and say something.").waitFor();
  assert.deepEqual(visit.complaints, []);

  await ending.end();
  await page.getByRole("button", { name: "Talk" }).click();
  await page
    .getByRole("alert")
    .getByText(`The bot is not running: nothing answers at http://localhost:${port}.`)
    .waitFor();
  await visit.assertFits("the page of the web template");
});

/** Resolves when the bars of a voice are seen in two shapes: they follow what is heard. */
async function movesUp(page: Page, name: string): Promise<void> {
  const canvas = page.getByRole("figure", { name }).locator("canvas");
  const draw = (): Promise<string> => canvas.evaluate((each) => (each as HTMLCanvasElement).toDataURL());
  const first = await draw();
  await until(async () => (await draw()) !== first, PATIENCE_MS, `moving bars of ${name}`);
}

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
