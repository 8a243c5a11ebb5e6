// The phone of the prebuilt client against a real runner in a real browser, with a voice as its microphone.
import { createResampler, parseWav, samplesIn, writeWav } from "@vocalhost/audio";
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import type { PanelCall } from "../bots/phone-panel-bot.ts";
import { launchChromium } from "../harness/chromium.ts";
import { desktop, mobile, openClientWindow, type ClientWindow } from "../harness/client-window.ts";
import { startRunnerProcess, type RunnerProcess } from "../harness/runner-process.ts";
import { PATIENCE_MS } from "../harness/watched-page.ts";
import { size } from "../../testing/sizes.ts";
import { until } from "../../testing/wait.ts";

const VOICE = new URL("../../packages/sdk/src/speech/fixtures/table-for-two.wav", import.meta.url);
const PARROT = "examples/parrot/bot.ts";
const PANEL_BOT = "e2e/bots/phone-panel-bot.ts";

const folder = mkdtempSync(join(tmpdir(), "phone-panel-"));
let browser: Browser;

before(async () => {
  await import("../../scripts/build-client-page.ts");
  browser = await launchChromium({ microphone: writeMicrophone(join(folder, "voice.wav")) });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Each has a runner and a page of its own, and mostly waits for a speaker to finish.
describe("the phone panel", { concurrency: 2 }, () => {
  test("calls to the parrot", async (t) => {
    await using runner = await startRunnerProcess({ bot: PARROT });
    await using phone = await openPhone(runner, desktop);
    await t.test("giving up while calling leaves nothing behind", () => giveUp(phone, runner));
    // Messages of carriers are compared beside the simulator, and e2e/telephony calls by all of them.
    for (const carrier of ["Twilio", "Exotel", "Telnyx", "Plivo"].slice(0, size(2, 4)))
      await t.test(`from ${carrier}: talk, hear the bot, mute, hang up`, () => talk(phone, runner, carrier));
  });

  test("calls to a bot that does as it is told", async (t) => {
    await using runner = await startRunnerProcess({ bot: PANEL_BOT });
    await using phone = await openPhone(runner, { ...desktop, colorScheme: "dark" });
    await t.test("keys reach it as DTMF, by click and by keyboard, and the numbers do too", () =>
      pressKeys(phone),
    );
    await t.test(
      "one that hangs up is no error, one that says nothing is told of, one that fails is an error",
      () => beHungUpOn(phone),
    );
    await t.test("without a microphone it can still be called", () => callUnheard(phone));
    await t.test("what the carrier would not accept is shown", async () => {
      await using other = await openPhone(runner, desktop); // sockets of a page are led elsewhere from its beginning
      await violate(other);
    });
  });

  test("a runner for one carrier, with tokens", async () => {
    const flags = ["-t", "telnyx", "--ws-auth", "token"];
    await using runner = await startRunnerProcess({ bot: PARROT, flags });
    await using phone = await openPhone(runner, desktop);
    const { page } = phone;
    await page.getByRole("radio", { name: "Telnyx" }).waitFor({ state: "attached" });
    assert.equal(await page.getByRole("radio").count(), 1, "nothing else can be chosen");
    await phone.call();
    await page.getByText("You spoke for").first().waitFor();
    await runner.end("SIGKILL");
    await page.getByRole("heading", { name: "The connection was lost" }).waitFor();
    await page.getByRole("region", { name: "The last call" }).waitFor();
    await page.getByRole("button", { name: "Check again" }).waitFor();
  });

  for (const colorScheme of size(["dark"] as const, ["light", "dark"] as const)) {
    test(`on a phone everything is reachable and nothing sticks out, ${colorScheme}`, async () => {
      await using runner = await startRunnerProcess({ bot: PARROT });
      await using phone = await openPhone(runner, { ...mobile, colorScheme });
      const { page } = phone;
      await phone.assertFits("idle");
      await phone.shoot(`phone-phone-idle-${colorScheme}`);
      await phone.call();
      await page.getByText("Bot spoke for").first().waitFor();
      await page
        .getByRole("region", { name: "Keypad" })
        .getByRole("button", { name: "5", exact: true })
        .tap();
      const note = page.getByRole("listitem").filter({ hasText: "You pressed 5" });
      await note.waitFor();
      await phone.assertFits("live");
      await phone.shoot(`phone-phone-live-${colorScheme}`);
      await note.scrollIntoViewIfNeeded();
      await phone.shoot(`phone-phone-transcript-${colorScheme}`);
      await page.getByRole("button", { name: "Hang up" }).click();
      await page.getByRole("region", { name: "The last call" }).waitFor();
      await phone.assertFits("ended");
      await page.getByRole("button", { name: "Play" }).scrollIntoViewIfNeeded();
      await phone.shoot(`phone-phone-ended-${colorScheme}`);
    });
  }
});

async function giveUp(phone: PhonePage, runner: RunnerProcess): Promise<void> {
  const { page } = phone;
  const asked = Promise.withResolvers<void>();
  await page.route("**/start", () => asked.resolve()); // never answered
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await asked.promise;
  await page.getByRole("heading", { name: "Calling…" }).waitFor();
  await phone.shoot("desktop-phone-calling");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("heading", { name: "Ready to call" }).waitFor();
  await until(() => phone.microphoneIsReleased(), PATIENCE_MS, "released microphone");
  await page.unroute("**/start");

  await page.route("**/start", (route) => route.fulfill({ status: 400, json: { detail: "Not today." } }));
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByRole("alert").getByText("Not today.").waitFor();
  await page.unroute("**/start");

  await page.route("**/start", (route) =>
    route.fulfill({ json: { wsUrl: `${runner.url.replace("http", "ws")}/nowhere` } }),
  );
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Your bot did not pick up" }).waitFor();
  await page.unroute("**/start");
}

async function talk(phone: PhonePage, runner: RunnerProcess, carrier: string): Promise<void> {
  const { page } = phone;
  await page.getByRole("radio", { name: carrier }).check({ force: true });
  if (carrier === "Twilio") await phone.shoot("desktop-phone-idle");
  const isNoisy = carrier === "Exotel";
  await page.getByLabel("In the background").selectOption(isNoisy ? "noise" : "");
  if (isNoisy) await page.getByLabel("How loud").selectOption("15");

  const quiet = await phone.energy();
  const endedBefore = sessionsEnded(runner);
  await phone.call();
  await page.getByText("You spoke for").first().waitFor();
  await page.getByText("Bot is speaking").or(page.getByText("Bot spoke for")).first().waitFor();
  await until(async () => (await phone.energy()) > quiet + 0.0001, PATIENCE_MS, "sound of the bot");
  if (carrier === "Twilio") await phone.shoot("desktop-phone-live");
  await page.getByText("Bot spoke for").first().waitFor();
  await phone.figure("First sound", /\d ms|\d s/);
  await phone.figure("Received", /[1-9]\d* kB/);
  await phone.figure("Violations", /^Violations\s0/);

  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Unmute" }).waitFor();
  await until(() => phone.microphoneIsOff(), PATIENCE_MS, "muted track");
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Mute", exact: true }).waitFor();

  await page.getByRole("button", { name: "Hang up" }).click();
  await page.getByRole("heading", { name: "You hung up" }).waitFor();
  await until(() => phone.microphoneIsReleased(), PATIENCE_MS, "released microphone");
  await until(() => sessionsEnded(runner) === endedBefore + 1, PATIENCE_MS, "end of the session");
  const card = page.getByRole("region", { name: "The last call" });
  await card.getByText(`${carrier} call`).waitFor();
  await card.getByText("Every message from your bot met the carrier's rules.").waitFor();
  if (carrier === "Twilio") await phone.shoot("desktop-phone-ended");

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    card.getByRole("link", { name: "Download WAV" }).click(),
  ]);
  assert.match(download.suggestedFilename(), new RegExp(`^${carrier.toLowerCase()}-call-.+\\.wav$`));
  const file = readFileSync(await download.path());
  assert.equal(quietest(file) > 50, isNoisy, `noise of ${quietest(file)} during silence`);
  const [you, bot] = channels(file);
  assert.ok(you > 50 && bot > 50, `both sides are in the recording: ${you} and ${bot}`);
  await card.getByRole("button", { name: "Play" }).click();
  await card.getByRole("button", { name: "Pause" }).click();

  await page.getByRole("button", { name: "Call again" }).click();
  await page.getByRole("button", { name: "Hang up" }).waitFor();
  assert.equal(await card.count(), 0, "the card belongs to the call before");
  await page.getByRole("button", { name: "Hang up" }).click();
  await page.getByRole("heading", { name: "You hung up" }).waitFor();
}

async function pressKeys(phone: PhonePage): Promise<void> {
  const { page } = phone;
  const keypad = page.getByRole("region", { name: "Keypad" });
  await keypad.getByRole("button", { name: "7", exact: true }).click();
  await page.keyboard.press("8");
  await page.keyboard.press("Shift+A"); // no part of a number
  assert.equal(await page.getByLabel("Number to call").inputValue(), "78", "before a call keys dial");
  await page.getByLabel("Calling from").fill("home");
  await page.getByText("A number has digits").waitFor();
  assert.ok(await page.getByRole("button", { name: "Call", exact: true }).isDisabled());
  await page.getByLabel("Calling from").fill("+1 (202) 555-0111");
  await phone.body('{ "mode": "keys" }');

  for (const [carrier, from, to] of [
    ["Twilio", "+12025550111", "78"],
    ["Telnyx", "+12025550111", "78"],
    ["Plivo", "12025550111", "78"],
    ["Exotel", "+12025550111", "78"],
  ] as const) {
    await page.getByRole("radio", { name: carrier }).check({ force: true });
    await page.getByRole("button", { name: /^Call/ }).click();
    await page
      .getByRole("heading", { name: "Connected" })
      .or(page.getByRole("heading", { name: "Hearing you" }))
      .waitFor();
    await keypad.getByRole("button", { name: "1", exact: true }).click();
    await page.keyboard.press("2");
    await keypad.getByRole("button", { name: "Hash" }).click();
    await page.keyboard.press("Shift+D");
    await keypad.getByLabel("Pressed: 12#D").waitFor();
    const call = await until(
      async () => (await phone.calls()).findLast(({ keys }) => keys === "12#D"),
      PATIENCE_MS,
      "keys at the bot",
    );
    assert.deepEqual(call, { carrier: carrier.toLowerCase(), from, to, keys: "12#D" });
    await page.getByText("Bot spoke for").first().waitFor();
    if (carrier === "Twilio") await phone.shoot("desktop-phone-keys-dark");
    await page.keyboard.press("h");
    await page.getByRole("heading", { name: "You hung up" }).waitFor();
    await page.getByRole("region", { name: "The last call" }).getByText("12#D").waitFor();
  }
  await phone.shoot("desktop-phone-ended-dark");
}

async function beHungUpOn(phone: PhonePage): Promise<void> {
  const { page } = phone;
  await phone.body('{ "mode": "goodbye" }');
  await page.keyboard.press("Escape");
  const quiet = await phone.energy();
  await page.getByRole("button", { name: /^Call/ }).click();
  await page.getByRole("heading", { name: "Your bot hung up" }).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.ok((await phone.energy()) > quiet + 0.0001, "its farewell was heard");
  await page
    .getByRole("region", { name: "The last call" })
    .getByText(/\d+ of \d+/)
    .waitFor();
  await phone.shoot("desktop-phone-bot-hung-up");

  await phone.body('{ "mode": "leave" }');
  await page.getByRole("button", { name: "Call again" }).click();
  await page.getByText("It said nothing.").waitFor();

  await phone.body('{ "mode": "fail" }');
  await page.getByRole("button", { name: "Call again" }).click();
  await page.getByRole("heading", { name: "The bot reported an error" }).waitFor();
}

async function callUnheard(phone: PhonePage): Promise<void> {
  const { page } = phone;
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"));
  });
  await phone.body('{ "mode": "goodbye" }');
  const quiet = await phone.energy();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "The microphone is blocked" }).waitFor();
  await page.getByRole("button", { name: "Call without it" }).click();
  await page.getByRole("heading", { name: "Your bot hung up" }).waitFor();
  assert.ok((await phone.energy()) > quiet + 0.0001, "its farewell was heard");
}

/** With a carrier between them that garbles a message. */
async function violate(phone: PhonePage): Promise<void> {
  const { page } = phone;
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const bot = socket.connectToServer();
    bot.onMessage((message) => socket.send(message));
    socket.onMessage((message) => {
      if (String(message).includes('"start"')) socket.send('{"event":"mediaa"}');
      bot.send(message);
    });
  });
  await phone.call();
  await phone.figure("Violations", /^Violations\s1/);
  await page.getByText('Protocol violation: Twilio knows no event "mediaa"').first().waitFor();
  await page.keyboard.press("l");
  const log = page.getByRole("region", { name: "Event log" });
  await log.getByRole("button", { name: /to the bot\s*start/ }).waitFor();
  await log.getByRole("button", { name: /from the bot\s*mediaa/ }).waitFor();
  await phone.shoot("desktop-phone-log");
  await page.keyboard.press("l");
  await page.getByRole("button", { name: "Hang up" }).click();
  const card = page.getByRole("region", { name: "The last call" });
  await card.getByText("unknown-event × 1").waitFor();
  await card.scrollIntoViewIfNeeded();
  await phone.shoot("desktop-phone-violation");
}

interface PhonePage extends ClientWindow {
  call(): Promise<void>;
  /** Fills in the JSON the bot receives. */
  body(json: string): Promise<void>;
  /** Waits until the figure reads like this. */
  figure(name: string, pattern: RegExp): Promise<void>;
  /** The report of the bot about its calls. */
  calls(): Promise<PanelCall[]>;
}

/** The client page with the phone chosen. */
async function openPhone(runner: RunnerProcess, options: BrowserContextOptions): Promise<PhonePage> {
  const opened = await openClientWindow(browser, runner, { ...options, acceptDownloads: true });
  const { page } = opened;
  const phoneChoice = page.getByRole("radio", { name: "Phone" });
  if ((await phoneChoice.count()) > 0) await phoneChoice.check({ force: true });
  await page.getByRole("heading", { name: "Ready to call" }).waitFor();
  return {
    ...opened,
    async call() {
      await page.getByRole("button", { name: /^(?:Call|Call again|Try again)$/ }).click();
      await page.getByRole("button", { name: "Hang up" }).waitFor();
    },
    async body(json) {
      const field = page.getByRole("textbox", { name: "JSON your bot receives" });
      if (!(await field.isVisible())) await page.getByText("Start body").click();
      await field.fill(json);
    },
    async figure(name, pattern) {
      const cell = page.locator("dl > div", { hasText: name });
      await until(async () => pattern.test(await cell.innerText()), PATIENCE_MS, `${name} like ${pattern}`);
    },
    calls: async () => (await (await fetch(`${runner.url}/calls`)).json()) as PanelCall[],
  };
}

/** Speech with a pause before and after it, again and again, as a browser wants its microphone. */
function writeMicrophone(path: string): string {
  const voice = parseWav(readFileSync(VOICE));
  const resampler = createResampler({ fromHz: voice.sampleRateHz, toHz: MICROPHONE_RATE_HZ });
  const speech = [resampler.process(voice.samples), resampler.flush()];
  const silence = (ms: number): Int16Array => new Int16Array(samplesIn(ms, MICROPHONE_RATE_HZ));
  const pieces = [silence(600), ...speech, silence(4000)];
  const samples = new Int16Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    samples.set(piece, at);
    at += piece.length;
  }
  writeFileSync(path, writeWav({ samples, sampleRateHz: MICROPHONE_RATE_HZ }));
  return path;
}

const MICROPHONE_RATE_HZ = 48_000;

/** Loudness of the left and the right side of a WAV file. */
function channels(file: Buffer): [number, number] {
  assert.equal(file.readUInt16LE(22), 2, "two channels");
  const sums: [number, number] = [0, 0];
  const frames = Math.floor((file.length - WAV_HEADER_BYTES) / 4);
  for (let at = 0; at < frames; at++) {
    sums[0] += file.readInt16LE(WAV_HEADER_BYTES + at * 4) ** 2;
    sums[1] += file.readInt16LE(WAV_HEADER_BYTES + at * 4 + 2) ** 2;
  }
  return [Math.sqrt(sums[0] / frames), Math.sqrt(sums[1] / frames)];
}

/** Level of the quietest fifth of a second of the user's side. */
function quietest(file: Buffer): number {
  const length = 0.2 * file.readUInt32LE(24);
  let least = Infinity;
  for (let from = WAV_HEADER_BYTES; from + 4 * length <= file.length; from += 4 * length) {
    let sum = 0;
    for (let at = 0; at < length; at++) sum += file.readInt16LE(from + at * 4) ** 2;
    least = Math.min(least, Math.sqrt(sum / length));
  }
  return least;
}

const WAV_HEADER_BYTES = 44;

function sessionsEnded(runner: RunnerProcess): number {
  return runner.output().match(/session ended/g)?.length ?? 0;
}
