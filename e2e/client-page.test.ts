// The prebuilt client against a real runner in a real browser, with a voice as its microphone.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { createBotFolder } from "./harness/bot-folder.ts";
import { launchChromium } from "./harness/chromium.ts";
import { startRunnerProcess, type RunnerProcess } from "./harness/runner-process.ts";
import { until } from "./harness/wait.ts";

const VOICE = fileURLToPath(
  new URL("../packages/sdk/src/speech/fixtures/table-for-two.wav", import.meta.url),
);
const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));
const PATIENCE_MS = 60_000; // generous: two cores may carry a browser, a bot and other tests

const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
const phone: BrowserContextOptions = {
  viewport: { width: 375, height: 720 },
  hasTouch: true,
  isMobile: true,
};

let browser: Browser;

before(async () => {
  await import("../scripts/build-client-page.ts");
  mkdirSync(SCREENSHOTS, { recursive: true });
  browser = await launchChromium({ microphone: VOICE });
});

after(() => browser?.close());

// Each has a runner and a page of its own, and mostly waits for somebody to finish speaking.
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
      assert.ok((await client.energy()) > 0, "its goodbye was heard");
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
    await using client = await openClient(runner, phone);
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
  });

  test("a refused start is shown in the runner's words, and a runner that is gone is looked for", async () => {
    const first = await startRunnerProcess({ bot: "examples/parrot/bot.ts" });
    const flags = ["--port", String(first.port)];
    await using client = await openClient(first, phone);
    const { page } = client;
    await first.end();
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("heading", { name: "The runner does not answer" }).waitFor();
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

interface Client extends AsyncDisposable {
  readonly page: Page;
  connect(options?: { again: boolean }): Promise<void>;
  /** Sound energy received from the bot, over all connections of the page; never falls. */
  energy(): Promise<number>;
  peers(): Promise<number>;
  microphoneIsOff(): Promise<boolean>;
  microphoneIsReleased(): Promise<boolean>;
  assertFits(what: string): Promise<void>;
  shoot(name: string): Promise<void>;
}

/** Opens the page, and at the end makes sure that it asked nobody else and complained about nothing. */
async function openClient(runner: RunnerProcess, options: BrowserContextOptions): Promise<Client> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const foreign: string[] = [];
  const complaints: string[] = [];
  const note = (url: string) => {
    const { host, protocol } = new URL(url);
    if (protocol !== "blob:" && host !== new URL(runner.url).host) foreign.push(url);
  };
  page.on("request", (request) => note(request.url()));
  page.on("websocket", (socket) => note(socket.url()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (/content security policy/i.test(message.text())) complaints.push(message.text());
  });
  await page.addInitScript(watchMedia);
  await page.goto(`${runner.url}/client/`);
  await page.getByRole("heading", { name: "Ready when you are" }).waitFor();
  return {
    page,
    async connect({ again } = { again: false }) {
      await page.getByRole("button", { name: again ? "Connect again" : "Connect" }).click();
      await page.getByRole("button", { name: "Hang up" }).waitFor();
    },
    energy: () => page.evaluate(() => (window as unknown as Watched).botEnergy()),
    peers: () => page.evaluate(() => (window as unknown as Watched).peers.length),
    microphoneIsOff: () =>
      page.evaluate(() => (window as unknown as Watched).tracks.every((track) => !track.enabled)),
    microphoneIsReleased: () =>
      page.evaluate(() =>
        (window as unknown as Watched).tracks.every((track) => track.readyState === "ended"),
      ),
    async assertFits(what) {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${what} is ${wide} px too wide`);
    },
    shoot: async (name) => void (await page.screenshot({ path: `${SCREENSHOTS}${name}.png` })),
    async [Symbol.asyncDispose]() {
      await context.close();
      assert.deepEqual(foreign, [], "requests that left the runner");
      assert.deepEqual(complaints, [], "errors of the page");
    },
  };
}

interface Watched {
  peers: RTCPeerConnection[];
  tracks: MediaStreamTrack[];
  botEnergy(): number;
}

/** Runs in the page before it: keeps hold of connections and microphone tracks, and listens at the speaker. */
function watchMedia(): void {
  const watched = window as unknown as Watched;
  watched.peers = [];
  watched.tracks = [];
  const keep = (track: MediaStreamTrack): MediaStreamTrack => {
    watched.tracks.push(track);
    return track;
  };
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    const stream = await open(constraints);
    stream.getTracks().forEach(keep);
    return stream;
  };
  const clone = MediaStreamTrack.prototype.clone;
  MediaStreamTrack.prototype.clone = function (this: MediaStreamTrack) {
    return keep(clone.call(this));
  };
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration?: RTCConfiguration) {
      super(configuration);
      watched.peers.push(this);
    }
  };
  let played = 0;
  const connect = AudioNode.prototype.connect as (...args: unknown[]) => unknown;
  AudioNode.prototype.connect = function (this: AudioNode, ...args: unknown[]) {
    if (args[0] instanceof AudioDestinationNode) {
      const ear = new AnalyserNode(this.context, { fftSize: 2048 });
      connect.call(this, ear);
      const samples = new Float32Array(ear.fftSize);
      setInterval(() => {
        ear.getFloatTimeDomainData(samples);
        played += samples.reduce((sum, sample) => sum + sample * sample, 0) / ear.context.sampleRate;
      }, 80);
    }
    return connect.apply(this, args);
  } as never;
  const received = new Map<string, number>();
  const listen = async (peer: RTCPeerConnection, index: number) => {
    for (const stat of (await peer.getStats()).values() as Iterable<AudioStat>) {
      if (stat.type !== "inbound-rtp" || stat.totalAudioEnergy === undefined) continue;
      received.set(`${index} ${stat.id}`, stat.totalAudioEnergy);
    }
  };
  setInterval(() => watched.peers.forEach((peer, index) => void listen(peer, index)), 80);
  watched.botEnergy = () => [...received.values()].reduce((sum, energy) => sum + energy, played);
}

interface AudioStat {
  id: string;
  type: string;
  totalAudioEnergy?: number;
}

function sessionsStarted(runner: RunnerProcess): number {
  return runner.output().match(/session started/g)?.length ?? 0;
}

function sessionsLeft(runner: RunnerProcess): number {
  return sessionsStarted(runner) - (runner.output().match(/session ended/g)?.length ?? 0);
}
