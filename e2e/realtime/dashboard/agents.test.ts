// An operator's day with the dashboard: real service, real instances, a real browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { size } from "../../../testing/sizes.ts";
import { until } from "../../../testing/wait.ts";
import { openDashboard, phone } from "./dashboard-page.ts";
import { PATIENCE_MS } from "../../harness/watched-page.ts";
import { setStage } from "./stage.ts";

const MARKUP = `<b id="injected">bold</b> <img src=x onerror="document.title='hacked'">`;
const BOT = `
let count = 0;
console.log(${JSON.stringify(MARKUP)});
setInterval(() => console.log("tick", count += 1, "of", process.pid), 250);
export async function bot(args) {
  console.log("a session began");
  await new Promise((resolve) => args.signal.addEventListener("abort", resolve));
}
`;
const CRASHING_BOT = `console.log("about to fall over"); throw new Error("No <i>voice</i> today");\nexport async function bot() {}\n`;

const stage = setStage({ hasVoiceEngine: false });

const tab = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Agent" }).getByRole("link", { name, exact: true });

test("an agent from a build: created, served, talked to, stopped, changed, rolled back, deleted", async (t) => {
  await using dashboard = await openDashboard(stage.browser, stage.service);
  const { page } = dashboard;
  await stage.service.build({ "bot.ts": BOT });

  await t.test("created from the build", async () => {
    await page.keyboard.press("n");
    await page.getByLabel("Name").fill("Front Desk");
    await page.getByText("Must be two or more of a-z").waitFor();
    await page.getByLabel("Name").fill("front-desk");
    await page.getByLabel("Build", { exact: true }).selectOption({ index: 1 });
    await dashboard.look("create-agent");
    await page.getByRole("button", { name: "Create agent" }).click();
    await page.getByRole("heading", { name: "front-desk", level: 1 }).waitFor();
    await page.getByText("Ready", { exact: true }).first().waitFor(); // without a reload
  });

  await t.test("its scaling applies at once and the pool fills before one's eyes", async () => {
    await tab(page, "Settings").click();
    await page.getByLabel("Instances kept warm").fill("60");
    await page.getByText("Must be a whole number from 0 to 50").waitFor();
    await page.getByLabel("Instances kept warm").fill("2");
    await page.getByLabel("Instances at most").fill("8");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("It applies at once").waitFor();
    await tab(page, "Overview").click();
    await countOf(page, "Warm", 2);
    await page.getByText("No sessions in the last 24 hours").waitFor();
  });

  let sessionId = "";
  await t.test("a session shows while it runs", async () => {
    const started = await stage.service.publicApi.sessions.start("front-desk", { transport: "webrtc" });
    sessionId = "sessionId" in started ? started.sessionId : "";
    await countOf(page, "Busy", 1);
    await page.getByRole("heading", { name: "Start latency" }).waitFor();
    await dashboard.look("overview");
    await tab(page, "Sessions").click();
    await page.getByRole("link", { name: sessionId.slice(0, 8) }).waitFor();
    await dashboard.look("sessions");
    await page.getByLabel("Show").selectOption("ended");
    await page.getByText("No sessions match").waitFor();
    await page.getByLabel("Show").selectOption("active");
    await page.getByRole("link", { name: sessionId.slice(0, 8) }).click();
    await page.getByText("The instance accepted the session").waitFor();
    await page.getByRole("option").first().waitFor(); // its log
    await until(
      async () => (await page.getByRole("heading", { name: "CPU" }).count()) > 0,
      PATIENCE_MS,
      "samples",
    );
    await dashboard.look("session");
  });

  await t.test("and is stopped from its page", async () => {
    await page.getByRole("button", { name: "Stop session" }).click();
    await dashboard.look("stop-session");
    await page.getByRole("dialog").getByRole("button", { name: "Stop session" }).click();
    await page.getByText("Stopped on request").waitFor();
    await page.getByText("Ended", { exact: true }).waitFor();
    await stage.service.sessionEnded(sessionId);
  });

  await t.test("logs follow, are searched, paused, and show markup as text", async () => {
    await tab(page, "Logs").click();
    await page
      .getByText(/tick \d+ of/)
      .first()
      .waitFor();
    const lines = page.getByRole("listbox", { name: "Log lines" });
    await page.getByRole("button", { name: "Pause" }).click();
    const shown = await page.getByText(/Paused, \d+ new · (\d+) lines/).innerText();
    await page.getByText(/Paused, [1-9]\d* new/).waitFor();
    assert.equal(/· (\d+)/.exec(await page.getByText(/Paused/).innerText())?.[1], /· (\d+)/.exec(shown)?.[1]);
    await page.getByRole("button", { name: "Resume" }).click();

    await page.keyboard.press("/");
    await page.keyboard.type("BOLD");
    const marked = lines.getByRole("option").filter({ hasText: MARKUP });
    await marked.first().waitFor();
    await until(
      async () => (await lines.getByText("tick").count()) === 0,
      PATIENCE_MS,
      "only what was searched",
    );
    assert.equal(await page.locator("#injected").count(), 0);
    await marked.first().click();
    await page.getByText("Session", { exact: true }).waitFor();
    assert.doesNotMatch(await page.title(), /hacked/);
    await dashboard.look("logs");
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    assert.equal((await downloading).suggestedFilename(), "front-desk.log.txt");
  });

  await t.test("another configuration is redeployed, and the rollout is shown", async () => {
    await tab(page, "Settings").click();
    await page.getByLabel("Longest session, in seconds").fill("600");
    await page.getByLabel("Profile").selectOption("agent-2x");
    assert.deepEqual(await page.getByLabel("Voice isolation filter").locator("option").allInnerTexts(), [
      "Off",
      "tel: audio up to 16 kHz",
      "pro: audio up to 32 kHz",
    ]);
    await page.getByText("engine is not installed on this service: audio is not filtered").waitFor();
    await page.getByLabel("Voice isolation filter").selectOption("tel");
    await page.getByText("Makes a new deployment and rolls it out.").waitFor();
    await page.getByRole("button", { name: "Save and redeploy" }).click();
    await page.getByRole("heading", { name: /^Roll(ing|ed) out$/ }).waitFor();
    await dashboard.look("rollout");
    await page.getByRole("heading", { name: "Rolled out" }).waitFor();
    const { agentProfile, vendorViva } = await stage.service.api.agents.get("front-desk");
    assert.deepEqual([agentProfile, vendorViva?.audioFilter], ["agent-2x", "tel"]);
    assert.equal(await page.getByLabel("Longest session, in seconds").inputValue(), "600");
    await dashboard.look("configuration");
  });

  await t.test("two deployments are compared, and the earlier one is rolled out again", async () => {
    await tab(page, "Deployments").click();
    const changes = page.getByRole("region", { name: "Compare" });
    await changes.getByText("agent-2x").waitFor();
    await changes.getByText("7200 s").waitFor();
    await changes.getByText("tel").waitFor();
    await dashboard.look("deployments");
    await page.getByRole("button", { name: /^Roll back to/ }).click();
    await dashboard.look("rollback");
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
    await page.getByRole("heading", { name: "Rolled out" }).waitFor();
    assert.equal((await stage.service.api.agents.get("front-desk")).agentProfile, "agent-1x");
  });

  await t.test("it is deleted only by name", async () => {
    await tab(page, "Settings").click();
    await page.getByRole("button", { name: "Delete agent" }).click();
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete agent" });
    assert.equal(await confirm.isDisabled(), true);
    await page.getByRole("dialog").getByRole("textbox").fill("front-desk");
    await dashboard.look("delete-agent");
    await confirm.click();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await page.getByText("No agents yet").waitFor();
    await dashboard.go("/agents/front-desk");
    await page.getByText("There is no agent with this name").waitFor();
    await dashboard.look("agent-missing");
  });
  assert.deepEqual(dashboard.complaints, []);
});

test("an agent from an image: a build's own runs, a registry's says what it would need", async () => {
  await using dashboard = await openDashboard(stage.browser, stage.service);
  const { page } = dashboard;
  const { build } = await stage.service.api.builds.get(await stage.service.build({ "bot.ts": BOT }));
  const create = async (name: string, image: string): Promise<void> => {
    await page.keyboard.press("n");
    await page.getByLabel("Name").fill(name);
    await page.getByText("An image", { exact: true }).click();
    await page.getByLabel("Image", { exact: true }).fill("not an image");
    assert.equal(await page.getByRole("button", { name: "Create agent" }).isDisabled(), true);
    await page.getByLabel("Image", { exact: true }).fill(image);
    await dashboard.look(`create-${name}`);
    await page.getByRole("button", { name: "Create agent" }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
  };
  await create("from-image", build.imageUri ?? "");
  await page.getByText("Ready", { exact: true }).first().waitFor();
  await dashboard.go("/agents");
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await create("foreign", "registry.example.com/team/front-desk:1.0");
  await page.getByText("Failed", { exact: true }).first().waitFor();
  await page
    .getByText(/registry\.example\.com\/team\/front-desk:1\.0/)
    .first()
    .waitFor();
  await dashboard.look("image-refused");
  for (const name of ["from-image", "foreign"]) await stage.service.api.agents.delete(name);
  assert.deepEqual(dashboard.complaints, []);
});

test("an agent that crashes says so, and what its bot printed", async () => {
  await using dashboard = await openDashboard(stage.browser, stage.service);
  const { page } = dashboard;
  const buildId = await stage.service.build({ "bot.ts": CRASHING_BOT });
  await stage.service.api.agents.create({ serviceName: "broken", buildId });
  await page.getByRole("link", { name: "broken" }).click();
  await page
    .getByText("Crashing", { exact: true })
    .or(page.getByText("Failed", { exact: true }))
    .first()
    .waitFor();
  await page.getByText("No <i>voice</i> today").first().waitFor();
  assert.equal(await page.locator("i", { hasText: "voice" }).count(), 0);
  await dashboard.look("crashing");
  await stage.service.api.agents.delete("broken");
});

// The first has what is particular to each of the others.
const LOOKS = [
  ["phone-dark", { ...phone, colorScheme: "dark" as const }],
  ["phone", phone],
  ["dark", { colorScheme: "dark" as const }],
] as const;
for (const [name, options] of LOOKS.slice(0, size(1, LOOKS.length)))
  test(`every page on ${name}`, async () => {
    const agent = `desk-${name}`;
    await stage.service.deploy({
      name: agent,
      files: { "bot.ts": BOT },
      autoScaling: { minAgents: 1, maxAgents: 4 },
    });
    const started = await stage.service.publicApi.sessions.start(agent, { transport: "webrtc" });
    await using dashboard = await openDashboard(stage.browser, stage.service, options);
    const { page } = dashboard;
    await page.getByRole("link", { name: agent }).waitFor();
    await dashboard.look(`${name}-agents`);
    const sessionId = "sessionId" in started ? started.sessionId : "";
    const places: [string, string, (page: Page) => Promise<unknown>][] = [
      ["overview", `/agents/${agent}`, (at) => at.getByRole("heading", { name: "Start latency" }).waitFor()],
      ["sessions", `/agents/${agent}/sessions`, (at) => at.getByRole("table").waitFor()],
      [
        "session",
        `/agents/${agent}/sessions/${sessionId}`,
        (at) => at.getByRole("heading", { name: "CPU" }).waitFor(),
      ],
      ["logs", `/agents/${agent}/logs`, (at) => at.getByText("tick").first().waitFor()],
      ["deployments", `/agents/${agent}/deployments`, (at) => at.getByText("Serving").first().waitFor()],
      ["configuration", `/agents/${agent}/settings`, (at) => at.getByLabel("Profile").waitFor()],
      ["create-agent", "/create-agent", (at) => at.getByLabel("Name").waitFor()],
      ["settings", "/settings", (at) => at.getByRole("heading", { name: "Settings", level: 1 }).waitFor()],
    ];
    for (const [place, path, isThere] of places) {
      await dashboard.go(path);
      await isThere(page);
      await dashboard.look(`${name}-${place}`);
      await dashboard.assertFits(place);
    }
    assert.deepEqual(dashboard.complaints, []);
    await stage.service.api.agents.delete(agent);
  });

test("everything can be reached with keys alone", async () => {
  await using dashboard = await openDashboard(stage.browser, stage.service);
  const { page } = dashboard;
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to content");
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Shortcuts and help" }).waitFor();
  await dashboard.look("help");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /olivia@example\.com/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Dark theme" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Escape");
  await until(
    async () => /olivia/.test(await focused(page)),
    PATIENCE_MS,
    "focus back on what opened the menu",
  );
});

test("while the service is away the page says so, and it is back by itself", async () => {
  await using dashboard = await openDashboard(stage.browser, stage.service);
  const { page } = dashboard;
  await page.getByText("Live", { exact: true }).first().waitFor();
  const hasAllPages = () =>
    page.evaluate(() =>
      performance.getEntriesByType("resource").some(({ name }) => name.includes("talk-page")),
    );
  await until(hasAllPages, PATIENCE_MS, "code of the last page");
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "Create agent" }).click();
  await page.getByText("The service cannot be reached").first().waitFor();
  await dashboard.look("unreachable");
  await page.context().setOffline(false);
  const tryAgain = page.getByRole("button", { name: "Try again" }).first();
  await until(
    async () => {
      if ((await page.getByText("The service cannot be reached").count()) === 0) return true;
      await tryAgain.click({ timeout: 1_000 }).catch(() => undefined); // the page may try by itself, and be first
      return false;
    },
    PATIENCE_MS,
    "the service again",
  );
  await stage.service.replaceController();
  await page.getByText("Live", { exact: true }).first().waitFor();
  await page.getByRole("link", { name: "Agents", exact: true }).first().click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
});

async function countOf(page: Page, word: string, count: number): Promise<void> {
  const pool = page.getByRole("region", { name: "Pool" });
  await until(
    async () =>
      (await pool.locator("dl > div", { hasText: new RegExp(`^${word}`) }).innerText()).endsWith(
        String(count),
      ),
    PATIENCE_MS,
    `${count} ${word}`,
  );
}

async function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent ?? "");
}
