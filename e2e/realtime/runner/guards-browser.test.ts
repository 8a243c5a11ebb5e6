import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { launchChromium } from "../../harness/chromium.ts";
import { call } from "../../harness/raw-http.ts";
import { startRunnerProcess } from "../../harness/runner-process.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts" });
const evil = createServer((_request, response) => {
  response.setHeader("content-type", "text/html");
  response.end("<!doctype html><title>evil</title><body>");
}).listen(0, "127.0.0.1");
await once(evil, "listening");
const evilPort = (evil.address() as AddressInfo).port;
// Newer browsers keep pages from the local network by themselves; here it must be the runner that does.
const browser = await launchChromium({
  args: ["--host-resolver-rules=MAP evil.test 127.0.0.1", "--disable-features=LocalNetworkAccessChecks"],
});
after(async () => {
  await browser.close();
  evil.close();
  await runner[Symbol.asyncDispose]();
});

/** Everything a page can do to an address without its user's help; says what it got to see. */
async function attack(page: Page, target: string): Promise<Record<string, string>> {
  return page.evaluate(async (base) => {
    const seen: Record<string, string> = {};
    const attempt = async (name: string, act: () => Promise<string>): Promise<void> => {
      const late = new Promise<string>((resolve) => setTimeout(() => resolve("nothing came"), 3_000));
      seen[name] = await Promise.race([act().catch((error: unknown) => `failed: ${String(error)}`), late]);
    };
    const read = async (response: Promise<Response>): Promise<string> => {
      const got = await response;
      return got.type === "opaque" ? "opaque" : `${got.status} ${await got.text()}`;
    };
    const json = { "content-type": "application/json" };
    const start = JSON.stringify({ transport: "websocket" });
    const load = (element: HTMLElement, done = "load"): Promise<string> =>
      new Promise((resolve) => {
        element.addEventListener(done, () => resolve("loaded"));
        element.addEventListener("error", () => resolve("failed"));
        document.body.append(element);
      });
    const socket = (path: string): Promise<string> =>
      new Promise((resolve) => {
        const opened = new WebSocket(base.replace("http", "ws") + path);
        opened.addEventListener("open", () => resolve("open"));
        opened.addEventListener("close", (event) => resolve(`closed ${event.code}`));
      });
    const form = (enctype: string): Promise<string> => {
      const frame = Object.assign(document.createElement("iframe"), { name: `frame-${enctype}` });
      const loaded = load(frame);
      const made = Object.assign(document.createElement("form"), {
        method: "post",
        enctype,
        target: frame.name,
      });
      made.action = `${base}/start`;
      made.append(Object.assign(document.createElement("input"), { name: start, value: "" }));
      document.body.append(made);
      made.submit();
      return loaded;
    };
    await attempt("read", () => read(fetch(`${base}/status`)));
    await attempt("read with cookies", () => read(fetch(`${base}/calls`, { credentials: "include" })));
    await attempt("read blindly", () => read(fetch(`${base}/mirror`, { mode: "no-cors" })));
    await attempt("post", () => read(fetch(`${base}/start`, { method: "POST", headers: json, body: start })));
    await attempt("post text", () =>
      read(fetch(`${base}/start`, { method: "POST", mode: "no-cors", body: start })),
    );
    await attempt("post nothing", () => read(fetch(`${base}/start`, { method: "POST", mode: "no-cors" })));
    await attempt("post a form", () =>
      read(
        fetch(`${base}/start`, { method: "POST", mode: "no-cors", body: new URLSearchParams({ a: "1" }) }),
      ),
    );
    await attempt("beacon", async () => String(navigator.sendBeacon(`${base}/start`, start)));
    for (const enctype of ["text/plain", "multipart/form-data"])
      await attempt(`form ${enctype}`, () => form(enctype));
    await attempt("image", () => load(Object.assign(new Image(), { src: `${base}/ws-client` })));
    await attempt("script", () =>
      load(Object.assign(document.createElement("script"), { src: `${base}/status` })),
    );
    await attempt("frame", () =>
      load(Object.assign(document.createElement("iframe"), { src: `${base}/client/` })),
    );
    for (const path of ["/ws-client", "/mirror-socket", "/status"])
      await attempt(`socket ${path}`, () => socket(path));
    return seen;
  }, target);
}

async function nothingHappened(): Promise<void> {
  assert.equal((await call(runner.port, "GET /figures")).json().sessions, 0);
  assert.deepEqual((await call(runner.port, "GET /calls")).json(), []);
  assert.doesNotMatch(runner.output(), /session started/);
}

describe("in a browser", () => {
  test("a foreign page reads nothing and starts nothing", async () => {
    const page = await browser.newPage();
    await page.goto(`http://evil.test:${evilPort}/`);
    for (const target of [`http://localhost:${runner.port}`, `http://127.0.0.1:${runner.port}`]) {
      const seen = await attack(page, target);
      for (const [what, got] of Object.entries(seen))
        assert.match(got, /^(?:failed|opaque$|closed 1006$|loaded$|true$|nothing came$)/, `${what}: ${got}`);
      for (const what of ["read", "read with cookies", "post"]) assert.match(seen[what] ?? "", /^failed/);
      for (const path of ["/ws-client", "/mirror-socket", "/status"])
        assert.equal(seen[`socket ${path}`], "closed 1006");
      assert.notEqual(seen["script"], "loaded");
      await nothingHappened();
    }
    await page.close();
  });

  test("a sandboxed page, whose origin is null, neither", async () => {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${evilPort}/`);
    const frame = Object.assign(
      {},
      { sandbox: "allow-scripts allow-forms", src: `http://localhost:${evilPort}/` },
    );
    await page.evaluate(
      (options) =>
        new Promise((resolve) => {
          const made = document.createElement("iframe");
          made.sandbox.value = options.sandbox;
          made.src = options.src;
          made.addEventListener("load", resolve);
          document.body.append(made);
        }),
      frame,
    );
    const inside = page.frames()[1];
    assert.ok(inside);
    const seen = await attack(inside as unknown as Page, `http://localhost:${runner.port}`);
    for (const what of ["read", "read with cookies", "post"]) assert.match(seen[what] ?? "", /^failed/);
    assert.equal(seen["socket /ws-client"], "closed 1006");
    await nothingHappened();
    await page.close();
  });

  test("a name that was rebound to this machine gets refusals only", async () => {
    const origin = `http://evil.test:${runner.port}`;
    const page = await browser.newPage();
    // The first answer came from the attacker's own address; from then on the name means us.
    await page.route(`${origin}/`, (route) =>
      route.fulfill({ contentType: "text/html", body: "<!doctype html><body>" }),
    );
    await page.goto(`${origin}/`);
    const seen = await attack(page, origin);
    for (const [what, got] of Object.entries(seen)) {
      if (/^(?:read|post)/.test(what)) assert.match(got, /^403 .*HOST_NOT_ALLOWED/, `${what}: ${got}`);
      if (what.startsWith("socket")) assert.equal(got, "closed 1006");
    }
    await nothingHappened();
    await page.close();
  });

  test("a page of another server on this machine is a client, and reads nothing else", async () => {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${evilPort}/`);
    const seen = await attack(page, `http://localhost:${runner.port}`);
    assert.match(seen["read"] ?? "", /^200 .*ready/);
    assert.match(seen["post"] ?? "", /^200 .*wsUrl/);
    assert.equal(seen["socket /ws-client"], "open");
    assert.equal(seen["socket /mirror-socket"], "closed 1006");
    assert.match(seen["read with cookies"] ?? "", /^failed/); // cookies are refused
    const shown = await page.evaluate(
      async (url) => (await fetch(url)).text(),
      `http://localhost:${runner.port}/calls`,
    );
    assert.match(shown, /ORIGIN_NOT_ALLOWED/);
    await page.close();
  });

  test("our own page may do it all", async () => {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${runner.port}/nothing`);
    const seen = await attack(page, `http://localhost:${runner.port}`);
    assert.match(seen["read"] ?? "", /^200 .*ready/);
    assert.match(seen["post"] ?? "", /^200 .*wsUrl/);
    assert.match(seen["post text"] ?? "", /^415/);
    assert.equal(seen["socket /ws-client"], "open");
    await page.close();
  });
});
