import type { Browser, Page } from "playwright-core";
import { MICROPHONE_TONE_HZ } from "../../conformance/microphone.ts";
import { openContext } from "../../harness/chromium.ts";
import type { Attendee } from "./attendee.ts";

export interface BrowserAttendee extends Attendee {
  readonly page: Page;
  setMuted(muted: boolean): Promise<void>;
  /** Console lines of the page. */
  readonly console: readonly string[];
}

export interface BrowserAttendeeOptions {
  browser: Browser;
  pageOrigin: string;
  url: string;
  token: string;
  identity: string;
}

/** The released `livekit-client` in a browser context of its own. Rejects with the client's own words. */
export async function joinFromBrowser(options: BrowserAttendeeOptions): Promise<BrowserAttendee> {
  const context = await openContext(options.browser);
  const page = await context.newPage();
  const written: string[] = [];
  page.on("console", (message) => written.push(message.text()));
  try {
    await page.goto(options.pageOrigin);
    await page.evaluate(([url, token]) => window.roomPage.join(url, token), [
      options.url,
      options.token,
    ] as const);
  } catch (error) {
    await context.close();
    throw error;
  }
  return {
    page,
    console: written,
    identity: options.identity,
    toneHz: MICROPHONE_TONE_HZ,
    speak: () => page.evaluate(() => window.roomPage.speak()),
    async setMuted(muted) {
      await page.evaluate(
        (enabled) =>
          window.roomPage.room.localParticipant.setMicrophoneEnabled(enabled).then(() => undefined),
        !muted,
      );
    },
    hear: (identity) => page.evaluate((from) => window.roomPage.hear(from), identity),
    send: (text, sendOptions) =>
      page.evaluate(([what, how]) => window.roomPage.send(what, how), [text, sendOptions] as const),
    sendBytes: (size) =>
      page.evaluate(
        (bytes) =>
          window.roomPage.room.localParticipant.publishData(new Uint8Array(bytes), { reliable: true }).then(
            () => "sent" as const,
            () => "refused" as const,
          ),
        size,
      ),
    messages: () => page.evaluate(() => window.roomPage.messages),
    events: () => page.evaluate(() => window.roomPage.events),
    others: () => page.evaluate(() => window.roomPage.others()),
    speakers: () => page.evaluate(() => window.roomPage.room.activeSpeakers.map(({ identity }) => identity)),
    ownSid: () => page.evaluate(() => window.roomPage.room.localParticipant.sid),
    async setAttribute(name, value) {
      await page.evaluate(
        ([key, text]) => window.roomPage.room.localParticipant.setAttributes({ [key]: text }),
        [name, value] as const,
      );
    },
    async leave() {
      await page.evaluate(() => window.roomPage.room.disconnect()).catch(() => undefined);
      await context.close();
    },
  };
}
