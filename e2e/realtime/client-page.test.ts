// The prebuilt client against a real runner in a real browser, with a voice as its microphone.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { createBotFolder } from "../harness/bot-folder.ts";
import { launchChromium } from "../harness/chromium.ts";
import {
  desktop,
  mobile,
  openClientWindow,
  type ClientWindow,
  type ClientWindowOptions,
} from "../harness/client-window.ts";
import { startRunnerProcess, type RunnerProcess } from "../harness/runner-process.ts";
import { PATIENCE_MS } from "../harness/watched-page.ts";
import { until } from "../../testing/wait.ts";

const VOICE = fileURLToPath(
  new URL("../../packages/sdk/src/speech/fixtures/table-for-two.wav", import.meta.url),
);

let browser: Browser;

before(async () => {
  await import("../../scripts/build-client-page.ts");
  browser = await launchChromium({ microphone: VOICE });
});

after(() => browser?.close());

// Each has a runner and a page of its own, and mostly waits for a speaker to finish.
describe("the client page", { concurrency: 2 }, () => {
  for (const [transport, label] of [
    ["webrtc", "WebRTC"],
    ["websocket", "WebSocket"],
  ] as const) {
    test(`a conversation over ${transport}: talk, mute, hang up, connect again`, async () => {
      await using runner = await startRunnerProcess({ bot: "examples/parrot/bot.ts" });
      await using client = await openClient(runner, desktop);
      const { page } = client;
      await page.getByRole("radio", { name: label }).check({ force: true });
      await client.shoot(`desktop-idle-${transport}`);

      await client.connect();
      await page.getByText("You spoke for").first().waitFor();
      await page.getByText("Bot is speaking").or(page.getByText("Bot spoke for")).first().waitFor();
      await until(async () => (await client.energy()) > 0.001, PATIENCE_MS, "sound of the bot");
      await client.shoot(`desktop-live-${transport}`);
      await page.getByText("Bot spoke for").first().waitFor();
      const answersIn = page.locator("dl > div", { hasText: "Answers in" });
      await until(async () => /\d ms|\d s/.test(await answersIn.innerText()), PATIENCE_MS, "response time");

      await page.keyboard.press("Space");
      await page.getByRole("button", { name: "Unmute" }).waitFor();
      await until(() => client.microphoneIsOff(), PATIENCE_MS, "muted track");
      await page.keyboard.press("Space");
      await page.getByRole("button", { name: "Mute", exact: true }).waitFor();

      await page.getByRole("button", { name: "Hang up" }).click();
      await page.getByRole("heading", { name: "Session ended" }).waitFor();
      await until(() => client.microphoneIsReleased(), PATIENCE_MS, "released microphone");
      await runner.printed(/session ended/);

      await client.connect({ again: true });
      const before = await client.energy();
      await until(
        async () => (await client.energy()) > before + 0.001,
        PATIENCE_MS,
        "sound after reconnecting",
      );
    });

    test(`a bot that ends the session over ${transport} is no error`, async () => {
      await using runner = await startRunnerProcess({ bot: "e2e/bots/conformance-bot.ts" });
      await using client = await openClient(runner, desktop);
      const { page } = client;
      await page.getByRole("radio", { name: label }).check({ force: true });
      await page.getByText("Start body").click();
      await page.getByRole("textbox", { name: "JSON your bot receives" }).fill('{ "mode": "goodbye" }');
      await page.getByRole("button", { name: "Connect" }).click();
      await page.getByRole("heading", { name: "Your bot ended the session" }).waitFor();
      assert.equal(await page.getByRole("alert").count(), 0);
      assert.ok((await client.energy()) > 0, "its farewell was heard");
      await client.shoot(`desktop-bot-ended-${transport}`);
    });
  }

  const SCRIPTED_BOT = `
import { createTransport } from "vocalhost";
export async function bot(args) {
  const transport = await createTransport(args);
  transport.rtvi.on("send-text", ({ content }) => {
    transport.rtvi.userStartedSpeaking();
    transport.rtvi.userTranscription({ text: "a table", final: false });
    transport.rtvi.userTranscription({ text: "A table for two.", final: true });
    transport.rtvi.userStoppedSpeaking();
    const sentence = transport.rtvi.botOutput("You wrote: " + content);
    sentence.spokenUpTo(9);
    transport.rtvi.metrics({ ttfb: [{ processor: "clock", value: 0.25 }] });
  });
  for await (const frame of transport.audioIn);
}
if (import.meta.main) await (await import("vocalhost/runner")).main();
`;

  test("typed and recognised words, spoken words, metrics and the event log", async () => {
    using folder = createBotFolder({ "bot.ts": SCRIPTED_BOT });
    await using runner = await startRunnerProcess({ bot: folder.bot("bot.ts"), workingFolder: folder.path });
    await using client = await openClient(runner, { ...desktop, colorScheme: "dark" });
    const { page } = client;
    await client.connect();
    await page.keyboard.press("t");
    await page.keyboard.type("hello bot");
    await page.keyboard.press("Enter");
    const transcript = page.getByRole("region", { name: "Transcript" });
    await transcript.getByText("hello bot", { exact: true }).waitFor();
    await transcript.getByText("A table for two.").first().waitFor();
    const answer = transcript.getByRole("listitem").filter({ hasText: "You wrote: hello bot" });
    assert.equal(await answer.locator("span.text-muted").innerText(), ": hello bot", "not spoken yet");
    await page.getByText("Details").click();
    await page.getByRole("cell", { name: "250 ms" }).first().waitFor();

    await page.keyboard.press("Escape");
    await page.keyboard.press("l");
    const log = page.getByRole("region", { name: "Event log" });
    await log.getByRole("searchbox").fill("bot-output");
    await until(async () => (await log.getByRole("listitem").count()) === 2, PATIENCE_MS, "filtered events");
    await client.shoot("desktop-dark-log");
    await log.getByRole("button", { name: "Clear" }).click();
    await log.getByText("Nothing matches.").waitFor();
  });

  test("on a phone everything is reachable and nothing sticks out", async () => {
    await using runner = await startRunnerProcess({ bot: "examples/parrot/bot.ts" });
    await using client = await openClient(runner, mobile);
    const { page } = client;
    await client.assertFits("idle");
    await client.shoot("phone-idle");
    await client.connect();
    await page.getByText("Bot spoke for").first().waitFor();
    await client.assertFits("live");
    await client.shoot("phone-live");
    await page.getByRole("button", { name: "Event log" }).click();
    await client.assertFits("event log");
    await client.shoot("phone-log");
    await page.getByRole("button", { name: "Close the event log" }).click();
    await page.getByRole("button", { name: "Help" }).click();
    await client.assertFits("help");
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByRole("button", { name: "Hang up" }).click();
    await page.getByRole("heading", { name: "Session ended" }).waitFor();
    await until(() => page.evaluate(drawsNothing), PATIENCE_MS, "rest for who asked for little motion");
  });

  test("a refused start is shown in the runner's words, and a runner that is gone is looked for", async () => {
    const first = await startRunnerProcess({ bot: "examples/parrot/bot.ts" });
    const flags = ["--port", String(first.port)];
    await using client = await openClient(first, mobile);
    const { page } = client;
    await first.end();
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("heading", { name: "The runner is not responding" }).waitFor();
    await client.shoot("phone-unreachable");

    await using second = await startRunnerProcess({
      bot: "examples/parrot/bot.ts",
      flags: [...flags, "-t", "websocket"],
    });
    assert.equal(second.port, first.port);
    // The page has found the new runner by itself, and offers what it accepts.
    await page.getByRole("heading", { name: "Ready when you are" }).waitFor();
    assert.equal(await page.getByRole("radio").count(), 0, "one transport needs no choice");

    await page.route("**/start", async (route) => {
      // A page that is older than the runner's restrictions.
      await route.continue({ postData: JSON.stringify({ transport: "webrtc" }) });
    });
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("heading", { name: "The runner refused to start a session" }).waitFor();
    await page.getByRole("alert").getByText("Transport 'webrtc' is not allowed").waitFor();
    await client.assertFits("refused");
    await client.shoot("phone-refused");
  });

  test("a runner that is stopped ends the session, without an error", async () => {
    await using runner = await startRunnerProcess({ bot: "examples/parrot/bot.ts" });
    await using client = await openClient(runner, desktop);
    await client.connect();
    await runner.end("SIGTERM");
    await client.page.getByRole("heading", { name: "Your bot ended the session" }).waitFor();
  });

  test("without a microphone the bot can still be heard", async () => {
    await using runner = await startRunnerProcess({ bot: "e2e/bots/conformance-bot.ts" });
    await using client = await openClient(runner, desktop);
    const { page } = client;
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"));
    });
    await page.getByText("Start body").click();
    await page.getByRole("textbox", { name: "JSON your bot receives" }).fill('{ "mode": "tone" }');
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("heading", { name: "The microphone is blocked" }).waitFor();
    await client.shoot("desktop-microphone-blocked");
    await page.getByRole("button", { name: "Connect without it" }).click();
    await page.getByRole("button", { name: "Hang up" }).waitFor();
    await until(async () => (await client.energy()) > 0.001, PATIENCE_MS, "sound of the bot");
  });

  const SILENT_BOT = `
import { once } from "node:events";
export const bot = ({ signal }) => once(signal, "abort");
if (import.meta.main) await (await import("vocalhost/runner")).main();
`;

  test("giving up while connecting leaves nothing behind", async () => {
    using folder = createBotFolder({ "bot.ts": SILENT_BOT });
    await using runner = await startRunnerProcess({ bot: folder.bot("bot.ts"), workingFolder: folder.path });
    await using client = await openClient(runner, desktop);
    const { page } = client;
    await page.getByText("Start body").click();
    const body = page.getByRole("textbox", { name: "JSON your bot receives" });
    await body.fill("{ oops");
    assert.ok(await page.getByRole("button", { name: "Connect" }).isDisabled());
    await body.fill("");
    for (const label of ["WebRTC", "WebSocket"]) {
      await page.getByRole("radio", { name: label }).check({ force: true });
      await page.getByRole("button", { name: "Connect" }).click();
      await page.getByRole("heading", { name: "Waiting for your bot" }).waitFor();
      await client.shoot("desktop-connecting");
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("heading", { name: "Ready when you are" }).waitFor();
      await until(() => client.microphoneIsReleased(), PATIENCE_MS, "released microphone");
      await until(() => sessionsLeft(runner) === 0, PATIENCE_MS, "end of the session");
    }
  });

  test("two people and the parrot in one room, opened by its address and joined by a link", async () => {
    await using runner = await startRunnerProcess({ bot: "examples/parrot/bot.ts" });
    const permissions = ["clipboard-read", "clipboard-write", "microphone"];
    await using ann = await openClient(runner, { ...desktop, permissions, path: "/room" });
    assert.equal(new URL(ann.page.url()).hash, "", "the token is not left in the address");
    await ann.connect();
    await ann.page.getByText("Bot spoke for").first().waitFor();
    await until(async () => (await ann.energy()) > 0.001, PATIENCE_MS, "sound of the bot");

    await ann.page.getByRole("button", { name: "Copy a link for one more" }).click();
    await ann.page.getByRole("button", { name: "Copied" }).waitFor();
    const link = new URL(await ann.page.evaluate(() => navigator.clipboard.readText()));
    await using bob = await openClient(runner, { ...desktop, path: `${link.pathname}${link.hash}` });
    await bob.connect();
    for (const [client, other] of [
      [ann, "Guest 1"],
      [bob, "Host"],
    ] as const) {
      const room = client.page.getByRole("region", { name: "In the room" });
      for (const name of ["You", "Bot", other]) await room.getByText(name, { exact: true }).waitFor();
    }
    await until(async () => (await bob.energy()) > 0.001, PATIENCE_MS, "sound of the others");
    await bob.shoot("desktop-live-room");

    await ann.page.getByRole("button", { name: "Hang up" }).click();
    await ann.page.getByRole("heading", { name: "Session ended" }).waitFor();
    await until(() => ann.microphoneIsReleased(), PATIENCE_MS, "released microphone");
    const before = await bob.energy();
    await until(
      async () => (await bob.energy()) > before + 0.001,
      PATIENCE_MS,
      "the bot goes on for the other",
    );
    await bob.page.getByRole("button", { name: "Hang up" }).click();
    await runner.printed(/session ended .*reason=client-left/);
    assert.equal(sessionsStarted(runner), 1);
  });

  test("a rebuilt peer connection keeps both voices", async () => {
    await using runner = await startRunnerProcess({ bot: "e2e/bots/conformance-bot.ts" });
    await using client = await openClient(runner, desktop);
    const { page } = client;
    await page.getByText("Start body").click();
    await page.getByRole("textbox", { name: "JSON your bot receives" }).fill('{ "mode": "echo" }');
    await client.connect();
    await until(async () => (await client.energy()) > 0.001, PATIENCE_MS, "echo");
    await page.evaluate(() => {
      const [peer] = (window as unknown as { peers: RTCPeerConnection[] }).peers;
      if (!peer) throw new Error("no peer connection");
      Object.defineProperty(peer, "iceConnectionState", { get: () => "failed" });
      peer.dispatchEvent(new Event("iceconnectionstatechange"));
    });
    await until(async () => (await client.peers()) === 2, PATIENCE_MS, "second peer connection");
    const before = await client.energy();
    await until(async () => (await client.energy()) > before + 0.001, PATIENCE_MS, "echo of the new peer");
    assert.equal(sessionsStarted(runner), 1, "the bot was not called again");
  });
});

interface Client extends ClientWindow {
  connect(options?: { again: boolean }): Promise<void>;
}

async function openClient(runner: RunnerProcess, options: ClientWindowOptions): Promise<Client> {
  const opened = await openClientWindow(browser, runner, options);
  const { page } = opened;
  await page.getByRole("heading", { name: "Ready when you are" }).waitFor();
  return {
    ...opened,
    async connect({ again } = { again: false }) {
      await page.getByRole("button", { name: again ? "Connect again" : "Connect" }).click();
      await page.getByRole("button", { name: "Hang up" }).waitFor();
    },
  };
}

// Runs in the page: whether its pictures stay as they are for a while.
async function drawsNothing(): Promise<boolean> {
  const { prototype } = CanvasRenderingContext2D;
  const { clearRect } = prototype;
  let isStill = true;
  prototype.clearRect = function (...area) {
    isStill = false;
    clearRect.apply(this, area);
  };
  await new Promise((resolve) => setTimeout(resolve, 300));
  prototype.clearRect = clearRect;
  return isStill;
}

function sessionsStarted(runner: RunnerProcess): number {
  return runner.output().match(/session started/g)?.length ?? 0;
}

function sessionsLeft(runner: RunnerProcess): number {
  return sessionsStarted(runner) - (runner.output().match(/session ended/g)?.length ?? 0);
}
