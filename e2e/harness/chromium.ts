import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from "playwright-core";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export interface ChromiumOptions {
  /** WAV file to use as the microphone; a beep every second otherwise. */
  microphone?: string;
  /** More of Chromium's own flags. */
  args?: string[];
}

const PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** A headless browser whose microphone is a file or a beep and whose speakers need no click. */
export function launchChromium(options: ChromiumOptions = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--autoplay-policy=no-user-gesture-required",
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      ...(options.microphone ? [`--use-file-for-fake-audio-capture=${options.microphone}`] : []),
      ...(options.args ?? []),
    ],
  });
}

/** A window with nothing of other tests in it. */
export async function openContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  await context.addInitScript(hearMicrophoneAsItIs);
  return context;
}

/** Runs in the page before it. There is no room around a microphone that is a file: taking its echo and noise out costs
 * more than the call itself. */
function hearMicrophoneAsItIs(): void {
  const devices = navigator.mediaDevices as MediaDevices | undefined; // only where the browser trusts the address
  if (!devices) return;
  const open = devices.getUserMedia.bind(devices);
  const raw = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  devices.getUserMedia = ({ audio, ...others } = {}) =>
    open(audio ? { ...others, audio: { ...(audio === true ? {} : audio), ...raw } } : others);
}

function findChromium(): string {
  const named = process.env["CHROMIUM_PATH"];
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = named
    ? [named]
    : PROGRAMS.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = candidates.find(isExecutable);
  if (found) return found;
  throw new Error("No Chromium found. Install it (apt-get install chromium) or set CHROMIUM_PATH.");
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
