import { dispose } from "@livekit/rtc-node";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { writeMicrophoneFile } from "../../conformance/microphone.ts";
import { launchChromium } from "../../harness/chromium.ts";
import { startClientPages } from "../../harness/client-pages.ts";
import { joinFromBrowser, type BrowserAttendee } from "./browser-attendee.ts";
import { joinFromNode, type NodeAttendee } from "./node-attendee.ts";
import { openRoomTarget, type OwnServerOptions, type RoomTarget, type TokenOptions } from "./room-target.ts";

/** A room server, and pages that join it. */
export interface RoomStage extends AsyncDisposable {
  readonly target: RoomTarget;
  /** An attendee leaves with its test. */
  fromNode(test: TestContext, options: JoinOptions): Promise<NodeAttendee>;
  fromBrowser(test: TestContext, options: JoinOptions): Promise<BrowserAttendee>;
}

export interface JoinOptions extends TokenOptions {
  identity: string;
  room: string;
  /** @default the server's own */
  url?: string;
  /** @default 440 */
  toneHz?: number;
}

const PAGE_FOLDER = fileURLToPath(new URL("./page/", import.meta.url));
const CONSOLE_LINES = 30; // shown when a test fails

export async function openRoomStage(options: OwnServerOptions = {}): Promise<RoomStage> {
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  const target = stack.use(await openRoomTarget(options));
  let opening: Promise<RoomPages> | undefined;
  stack.defer(() => dispose()); // or rtc-node keeps the process
  stack.defer(async () => (await opening)?.[Symbol.asyncDispose]());

  const owned = stack.move();
  return {
    target,
    async fromNode(test, { identity, room, url = target.url, toneHz = 440, ...grant }) {
      const token = await target.token(identity, room, grant);
      const attendee = await joinFromNode({ url, token, identity, toneHz });
      test.after(() => attendee.leave());
      return attendee;
    },
    async fromBrowser(test, { identity, room, url = target.url, ...grant }) {
      opening ??= openRoomPages();
      const token = await target.token(identity, room, grant);
      return (await opening).join(test, { identity, url, token });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A browser with a known tone for a microphone, and a page with the released client. */
export interface RoomPages extends AsyncDisposable {
  /** An attendee leaves with its test. */
  join(
    test: TestContext,
    options: { identity: string; url: string; token: string },
  ): Promise<BrowserAttendee>;
}

export async function openRoomPages(): Promise<RoomPages> {
  await using stack = new AsyncDisposableStack(); // undoes a half-finished start
  const folder = await mkdtemp(join(tmpdir(), "rooms-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const microphone = join(folder, "microphone.wav");
  await writeMicrophoneFile(microphone);
  const { origin: pageOrigin } = stack.use(await startClientPages(PAGE_FOLDER));
  const browser = await launchChromium({ microphone });
  stack.defer(() => browser.close());
  const owned = stack.move();
  return {
    async join(test, options) {
      const attendee = await joinFromBrowser({ browser, pageOrigin, ...options });
      test.after(async () => {
        await attendee.leave();
        if ((test as TestContext & { passed?: boolean }).passed === false)
          for (const line of attendee.console.slice(-CONSOLE_LINES)) test.diagnostic(line);
      });
      return attendee;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export function freshRoom(): string {
  return `room-${randomUUID()}`;
}
