// Talking to a hosted agent in the dashboard: real service, real instances, a voice as the browser's microphone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { servePages } from "../../harness/client-pages.ts";
import { startForeignPage } from "../../harness/foreign-page.ts";
import { createWebProject } from "../../harness/web-project.ts";
import { size } from "../../../testing/sizes.ts";
import { pause, until } from "../../../testing/wait.ts";
import { openDashboard, phone } from "./dashboard-page.ts";
import { openWatchedPage, PATIENCE_MS } from "../../harness/watched-page.ts";
import { setStage } from "./stage.ts";

const RAW_MS = 1_000; // so much is to be heard without the filter, and on record
const path = (relative: string) => fileURLToPath(new URL(`../../../${relative}`, import.meta.url));
const VOICE = path("packages/sdk/src/speech/fixtures/table-for-two.wav");
const KEYS_BOT = `
import { createTransport } from "vocalhost";
export async function bot(args) {
  const transport = await createTransport(args);
  console.log("call from", args.callData?.from);
  void (async () => {
    for await (const key of transport.dtmf) console.log("pressed", key);
  })();
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}
`;

const stage = setStage({
  microphone: VOICE,
  async prepare({ service }) {
    const parrot = readFileSync(path("examples/parrot/bot.ts"), "utf8");
    const filtering = parrot.replace(
      "createTransport(args)",
      "createTransport(args, { audioIn: { filter: vivaFilter() } })",
    );
    await service.deploy({
      name: "parrot",
      files: { "bot.ts": `import { vivaFilter } from "vocalhost/filters";\n${filtering}` },
      vendorViva: { audioFilter: "tel" },
      autoScaling: { minAgents: 1, maxAgents: 3 },
    });
  },
});

for (const label of ["WebRTC", "Room", "WebSocket"].slice(0, size(2, 3)))
  test(`a conversation over ${label}: both voices, mute, hang up`, async () => {
    await using dashboard = await openDashboard(stage.browser, stage.service);
    const { page } = dashboard;
    await page.getByRole("link", { name: "parrot" }).click();
    await page.getByRole("link", { name: "Talk" }).first().click();
    await page.getByRole("radio", { name: label }).check({ force: true });
    await page.getByRole("heading", { name: "Ready when you are" }).waitFor();
    await dashboard.look(`talk-idle-${label.toLowerCase()}`);

    await page.getByRole("button", { name: "Start a session" }).click();
    await page.getByRole("button", { name: "Hang up" }).waitFor();
    await page.getByText("You spoke for").first().waitFor();
    await page.getByText("Bot is speaking").first().waitFor();
    await until(() => level(page, "Bot level"), PATIENCE_MS, "sound of the bot");
    await until(() => level(page, "Microphone level"), PATIENCE_MS, "sound of the microphone");
    if (label === "WebRTC") await compareFilter(page);
    await dashboard.look(`talk-live-${label.toLowerCase()}`);
    await page.getByText("Bot spoke for").first().waitFor();

    await page.getByRole("button", { name: "Mute" }).click();
    await page.getByRole("button", { name: "Unmute" }).click();
    await page.getByRole("button", { name: "Hang up" }).click();
    await page.getByRole("heading", { name: "You hung up" }).waitFor();
    const [session] = (await stage.service.api.sessions.list("parrot", { limit: 1 })).sessions;
    assert.ok(session);
    await stage.service.sessionEnded(session.sessionId);
    const { filter } = await stage.service.api.sessions.get("parrot", session.sessionId);
    assert.equal((filter?.bypassedSeconds ?? 0) > 0, label === "WebRTC", JSON.stringify(filter));
    await dashboard.look(`talk-ended-${label.toLowerCase()}`);
    await page.getByRole("main").getByRole("link", { name: "Sessions" }).last().click();
    await page.getByText(session.sessionId.slice(0, 8)).first().waitFor();
    assert.deepEqual(dashboard.complaints, []);
  });

/** Hears raw for a moment, and sees both levels. */
async function compareFilter(page: Page): Promise<void> {
  const panel = page.getByRole("region", { name: "Voice filter" });
  await panel.getByText("Your bot hears (voice filter tel)").waitFor();
  // Its state is the session's, which takes a moment to answer.
  await panel.getByRole("radio", { name: "Raw" }).click({ force: true });
  await panel.getByRole("img", { name: /^Your level: -\d+ dB raw, -\d+ dB filtered$/ }).waitFor();
  await until(() => panel.getByRole("radio", { name: "Raw" }).isChecked(), PATIENCE_MS, "raw");
  await pause(RAW_MS);
  await panel.getByRole("radio", { name: "Filtered" }).click({ force: true });
  await until(() => panel.getByRole("radio", { name: "Filtered" }).isChecked(), PATIENCE_MS, "filtered");
}

test("leaving the page ends the session", async () => {
  await using dashboard = await openDashboard(stage.browser, stage.service);
  const { page } = dashboard;
  await dashboard.go("/agents/parrot/talk");
  await page.getByRole("radio", { name: "WebRTC" }).check({ force: true });
  await page.getByRole("button", { name: "Start a session" }).click();
  await page.getByRole("button", { name: "Hang up" }).waitFor();
  const [session] = (await stage.service.api.sessions.list("parrot", { limit: 1 })).sessions;
  await page.getByRole("link", { name: "Logs" }).click();
  await stage.service.sessionEnded(session?.sessionId ?? "");
});

test("the talk button on a page of others: as much as its public key allows", async () => {
  const [ours, others] = await Promise.all(
    ["parrot", "another"].map((agent) =>
      stage.service.api.keys.create({ type: "public", name: "shop", agents: [agent] }),
    ),
  );
  await using shop = await startForeignPage();
  const script = `<script async src="${new URL(stage.service.apiUrl).origin}/embed.js" data-agent="parrot"`;
  await using visit = await openWatchedPage(stage.browser, {
    isComplaint: (message) => message.type() === "error",
  });
  const { page, complaints } = visit;
  const visitWith = async (key: string): Promise<void> => {
    shop.write(`${script} data-key="${key}"></script>`);
    await page.goto(`http://shop.localhost:${shop.port}`);
    await page.getByRole("button", { name: "Talk to us" }).click();
  };

  await visitWith(ours?.key ?? "");
  await page.getByRole("button", { name: "Mute" }).waitFor();
  await page.getByRole("button", { name: "Hang up" }).click();
  const [session] = (await stage.service.api.sessions.list("parrot", { limit: 1 })).sessions;
  assert.equal(await stage.service.sessionEnded(session?.sessionId ?? ""), "client-left");
  assert.equal(complaints.join("\n"), "");

  await visitWith(others?.key ?? "");
  await page.getByRole("status").getByText("The call could not be connected").waitFor();
  await until(
    () => complaints.some((text) => text.startsWith("vocalhost: ")),
    PATIENCE_MS,
    "a line about it",
  );
  const [latest] = (await stage.service.api.sessions.list("parrot", { limit: 1 })).sessions;
  assert.equal(latest?.sessionId, session?.sessionId);
});

test(
  "the page of the web template talks to a hosted agent by one variable",
  { skip: size<string | false>("builds a page; the same clients run in the conformance tests", false) },
  async () => {
    using project = createWebProject();
    const address = new URL(`${stage.service.apiUrl}/public/parrot/start`);
    address.username = stage.service.publicKey;
    await using pages = await servePages(project.build({ VITE_BOT_URL: address.href }));
    await using visit = await openWatchedPage(stage.browser, { isComplaint: () => false });
    const { page } = visit;
    await page.goto(pages.origin);
    await page.getByRole("button", { name: "Talk" }).click();
    await page.getByText("Speak. You can interrupt the bot.").waitFor();
    await page.getByRole("button", { name: "Hang up" }).click();
    const [session] = (await stage.service.api.sessions.list("parrot", { limit: 1 })).sessions;
    assert.equal(await stage.service.sessionEnded(session?.sessionId ?? ""), "client-left");
    assert.deepEqual(visit.complaints, []);
  },
);

const LINES = [
  ["Twilio", "token"],
  ["Exotel", "none"],
  ["Twilio", "none"],
  ["Plivo", "token"],
] as const;
for (const [carrier, websocketAuth] of LINES.slice(0, size(1, LINES.length)))
  test(`a ${carrier} call to an agent that wants ${websocketAuth}: keys, voices, a recording`, async () => {
    const name = `exchange-${carrier}-${websocketAuth}`.toLowerCase();
    await stage.service.deploy({
      name,
      files: { "bot.ts": KEYS_BOT },
      websocketAuth,
      autoScaling: { minAgents: 1, maxAgents: 2 },
    });
    await using dashboard = await openDashboard(stage.browser, stage.service, { colorScheme: "dark" });
    const { page } = dashboard;
    await dashboard.go(`/agents/${name}/talk`);
    await page.getByRole("radio", { name: "Phone" }).check({ force: true });
    await page.getByRole("radio", { name: carrier }).check({ force: true });
    await page.getByRole("heading", { name: "Ready to call" }).waitFor();
    if (carrier === "Plivo") await dashboard.look("talk-phone-idle-dark");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("button", { name: "Hang up" }).waitFor();
    await page.getByRole("button", { name: "5", exact: true }).click();
    await page.keyboard.press("7");
    await page.getByLabel("Pressed: 57").waitFor();
    await until(() => level(page, "Bot level"), PATIENCE_MS, "sound of the bot");
    if (carrier === "Plivo") await dashboard.look("talk-phone-live-dark");
    await page.getByRole("button", { name: "Hang up" }).click();
    await page.getByRole("heading", { name: "You hung up" }).waitFor();
    await page.getByRole("heading", { name: `${carrier} call` }).waitFor();
    await page.getByText("Every message from your bot met the carrier's rules.").waitFor();
    if (carrier === "Plivo") await dashboard.look("talk-phone-ended-dark");
    await until(
      async () => {
        const { logs } = await stage.service.api.agents.logs(name, { query: "pressed", limit: 10 });
        return logs.length === 2;
      },
      PATIENCE_MS,
      "keys in the bot's log",
    );
    assert.deepEqual(dashboard.complaints, []);
  });

test("on a phone, and when there is no room", async () => {
  await stage.service.deploy({
    name: "single",
    files: { "bot.ts": KEYS_BOT },
    autoScaling: { minAgents: 1, maxAgents: 1 },
  });
  await using dashboard = await openDashboard(stage.browser, stage.service, phone);
  const { page } = dashboard;
  await dashboard.go("/agents/single/talk");
  await page.getByRole("radio", { name: "WebRTC" }).check({ force: true });
  await dashboard.assertFits("idle");
  await dashboard.look("talk-small-idle");
  await stage.service.publicApi.sessions.start("single", { transport: "webrtc" });
  await page.getByRole("button", { name: "Start a session" }).click();
  await page.getByRole("heading", { name: "The service did not start a session" }).waitFor();
  await page.getByText("all instances of the agent are in use").waitFor();
  await dashboard.assertFits("refused");
  await dashboard.look("talk-small-refused");

  await dashboard.go("/agents/parrot/talk");
  await page.getByRole("button", { name: "Start a session" }).click();
  await page.getByText("Bot spoke for").first().waitFor();
  await dashboard.assertFits("live");
  await dashboard.look("talk-small-live");
  await page.getByRole("button", { name: "Hang up" }).click();
  // The words of the client library about a refused start.
  assert.deepEqual(dashboard.complaints, ["Fatal error reported. Disconnecting..."]);
});

test("the token of a session reaches that session and nothing else", async () => {
  await using dashboard = await openDashboard(stage.browser, stage.service);
  const { page } = dashboard;
  const { organization } = stage.service;
  const tell = (path: string, headers: Record<string, string> = {}, body?: unknown) =>
    page.evaluate(
      async ([url, given, sent]) => {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", ...given },
          body: JSON.stringify(sent ?? {}),
        });
        return { status: response.status, answer: (await response.json()) as Record<string, string> };
      },
      [path, headers, body] as const,
    );
  const start = () =>
    tell(`/v1/organizations/${organization}/public/parrot/start`, {}, { transport: "webrtc" });
  const [one, two] = [await start(), await start()];
  assert.deepEqual([one.status, two.status], [200, 200], JSON.stringify([one, two]));
  const offer = (sessionId = "", headers: Record<string, string> = {}) =>
    tell(`/v1/public/parrot/sessions/${sessionId}/api/offer`, headers, { sdp: "", type: "offer" });
  const bearer = { authorization: `Bearer ${one.answer["sessionToken"] ?? ""}` };
  assert.equal((await offer(one.answer["sessionId"])).status, 401, "a cookie alone");
  assert.equal((await offer(two.answer["sessionId"], bearer)).status, 404, "another session");
  const own = await offer(one.answer["sessionId"], bearer);
  assert.ok(![401, 403, 404].includes(own.status), JSON.stringify(own)); // the bot's own refusal of an empty offer
  assert.equal((await tell("/v1/public/parrot/start", bearer)).status, 401, "a start");
  assert.equal((await tell("/v1/keys", bearer, { type: "private", name: "x" })).status, 401, "management");
  for (const { answer } of [one, two])
    await stage.service.api.sessions.stop("parrot", answer["sessionId"] ?? "");
});

async function level(page: Page, name: string): Promise<boolean> {
  return Number(await page.getByRole("meter", { name }).getAttribute("aria-valuenow")) > 5;
}
