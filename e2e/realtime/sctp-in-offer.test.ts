// A browser that offers what its data channels begin with, `a=sctp-init`, as the newest WebRTC can: behind a flag as yet.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { until, within } from "../../testing/wait.ts";
import { launchChromium } from "../harness/chromium.ts";
import { startClientPages } from "../harness/client-pages.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { joinFromBrowser } from "./rooms/browser-attendee.ts";
import { openOwnTarget } from "./rooms/room-target.ts";

let browser: Browser;

before(async () => {
  browser = await launchChromium({ args: ["--force-fieldtrials=WebRTC-Sctp-Snap/Enabled/"] });
});
after(() => browser?.close());

test("a bot and such a browser talk over their data channel", async () => {
  await using runner = await startRunnerProcess({ bot: "examples/parrot/bot.ts" });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${runner.port}/status`);
  const { offered, answered, heard } = await page.evaluate(callBot);
  assert.match(offered, /^a=sctp-init:/m, "this browser does not know the flag");
  assert.doesNotMatch(answered, /sctp-init/);
  assert.match(heard, /bot-ready/);
});

test("such browsers send each other data in a room", async () => {
  await using stack = new AsyncDisposableStack();
  const target = stack.use(await openOwnTarget());
  const pages = stack.use(await startClientPages(fileURLToPath(new URL("./rooms/page/", import.meta.url))));
  const join = async (identity: string) => {
    const token = await target.token(identity, "lobby");
    const { url } = target;
    const attendee = await joinFromBrowser({ browser, pageOrigin: pages.origin, url, token, identity });
    stack.defer(() => attendee.leave());
    return attendee;
  };
  const alice = await join("alice");
  const bob = await join("bob");
  await until(
    async () => (await alice.others()).some(({ identity }) => identity === "bob"),
    15_000,
    "bob for alice",
  );
  await within(alice.send("hello", { reliable: true }), 15_000, "data channel of alice");
  const heard = await until(
    async () => (await bob.messages()).find(({ text }) => text === "hello"),
    15_000,
    "message of alice",
  );
  assert.equal(heard.from, "alice");
});

/** Runs in the page. */
async function callBot(): Promise<{ offered: string; answered: string; heard: string }> {
  const connection = new RTCPeerConnection();
  connection.addTransceiver("audio", { direction: "recvonly" });
  const channel = connection.createDataChannel("chat");
  const heard = new Promise<string>((resolve, reject) => {
    setTimeout(() => reject(new Error("No bot-ready")), 30_000);
    channel.addEventListener("message", ({ data }) => {
      if (String(data).includes("bot-ready")) resolve(String(data));
    });
  });
  channel.addEventListener("open", () => {
    const ready = { label: "rtvi-ai", id: "1", type: "client-ready", data: { version: "1.0.0" } };
    channel.send(JSON.stringify(ready));
  });
  await connection.setLocalDescription();
  while (connection.iceGatheringState !== "complete")
    await new Promise((resolve) =>
      connection.addEventListener("icegatheringstatechange", resolve, { once: true }),
    );
  const offered = connection.localDescription?.sdp ?? "";
  const response = await fetch("/api/offer", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ sdp: offered, type: "offer", pc_id: null }),
  });
  const { sdp } = (await response.json()) as { sdp: string };
  await connection.setRemoteDescription({ type: "answer", sdp });
  return { offered, answered: sdp, heard: await heard };
}
