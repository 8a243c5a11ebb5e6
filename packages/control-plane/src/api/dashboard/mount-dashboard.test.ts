import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createApiApp } from "../create-api-app.ts";
import { silentLog } from "@vocalhost/base/log";
import { mountDashboard } from "./mount-dashboard.ts";
import { mountDocs } from "./mount-docs.ts";

async function startPage(files: Record<string, string>, mount = mountDashboard) {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-page-"));
  mkdirSync(join(folder, "assets"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const app = createApiApp(silentLog);
  mount(app, folder);
  app.get("/v1/something", async () => ({ data: true }));
  const origin = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    get: (path: string, headers: Record<string, string> = {}) => fetch(origin + path, { headers }),
    async [Symbol.asyncDispose]() {
      await app.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const SCRIPT = "const text = 'x';\n".repeat(500);

test("every address of the page is the document, under a policy without inline code", async () => {
  await using page = await startPage({ "index.html": "<p>the page</p>", "assets/main-1234.js": SCRIPT });
  for (const path of [
    "/",
    "/sign-in",
    "/owner",
    "/device",
    "/agents",
    "/agents/a/logs",
    "/settings/keys",
    "/usage",
  ]) {
    const response = await page.get(path);
    assert.equal(response.status, 200, path);
    assert.equal(await response.text(), "<p>the page</p>", path);
    const policy = response.headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal(response.headers.get("cache-control"), "no-cache");
  }
});

test("files named by their content are kept for ever, packed where that gains", async () => {
  await using page = await startPage({
    "index.html": "",
    "icon.svg": "<svg/>",
    "assets/main-1234.js": SCRIPT,
  });
  const script = await page.get("/assets/main-1234.js");
  assert.equal(await script.text(), SCRIPT);
  assert.equal(script.headers.get("content-encoding"), "gzip");
  assert.match(script.headers.get("cache-control") ?? "", /immutable/);
  assert.match(script.headers.get("content-type") ?? "", /^text\/javascript/);
  const plain = await page.get("/assets/main-1234.js", { "accept-encoding": "identity" });
  assert.equal(plain.headers.get("content-encoding"), null);
  assert.equal((await page.get("/icon.svg")).headers.get("cache-control"), "no-cache");
});

test("only the talk button may be loaded by pages of others", async () => {
  await using page = await startPage({ "index.html": "", "embed.js": SCRIPT, "assets/main-1234.js": SCRIPT });
  const policyOf = async (path: string): Promise<string | null> =>
    (await page.get(path)).headers.get("cross-origin-resource-policy");
  assert.equal(await policyOf("/embed.js"), "cross-origin");
  for (const path of ["/", "/assets/main-1234.js"]) assert.equal(await policyOf(path), "same-origin", path);
  assert.equal((await page.get("/embed.js")).headers.get("access-control-allow-origin"), null);
});

test("what is no address of the page is answered as data", async () => {
  await using page = await startPage({ "index.html": "<p>the page</p>" });
  assert.deepEqual(await (await page.get("/v1/something")).json(), { data: true });
  for (const path of [
    "/v1/agents-of-nobody",
    "/auth/nothing",
    "/assets/absent.js",
    "/assets/..%2findex.html",
    "/.made-from",
  ]) {
    const response = await page.get(path);
    assert.equal(response.status, 404, path);
    assert.match(response.headers.get("content-type") ?? "", /^application\/json/, path);
  }
});

test("who visits an address that leads nowhere sees the page, which says so", async () => {
  await using page = await startPage({ "index.html": "<p>the page</p>" });
  const visit = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  for (const path of ["/nonsense", "/owner/nonsense", "/wsx"]) {
    const response = await page.get(path, visit);
    assert.deepEqual([response.status, await response.text()], [404, "<p>the page</p>"], path);
    assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    const asData = await page.get(path);
    assert.match(asData.headers.get("content-type") ?? "", /^application\/json/, path);
  }
  for (const path of ["/v1", "/v1/nothing", "/auth/nothing", "/internal/nothing", "/ws?x", "/assets/no.js"])
    assert.match((await page.get(path, visit)).headers.get("content-type") ?? "", /^application\/json/, path);
});

test("without a built page the service says so and how to get it", async () => {
  await using page = await startPage({});
  const response = await page.get("/agents");
  assert.equal(response.status, 503);
  assert.match(await response.text(), /The dashboard is not built/);
});

test("the documentation has addresses without endings, its own 404 and a policy without inline code", async () => {
  const files = { "index.html": "home", "bots.html": "bots", "404.html": "gone", "assets/a.js": SCRIPT };
  await using page = await startPage(files, mountDocs);
  for (const [path, status, text] of [
    ["/docs", 200, "home"],
    ["/docs/", 200, "home"],
    ["/docs/bots", 200, "bots"],
    ["/docs/assets/a.js", 200, SCRIPT],
    ["/docs/nothing", 404, "gone"],
  ] as const) {
    const response = await page.get(path);
    assert.deepEqual([response.status, await response.text()], [status, text], path);
    const policy = response.headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
  }
  assert.match((await page.get("/docs/assets/b.js")).headers.get("content-type") ?? "", /json/);
});

test("without a built site the service says how to build the documentation", async () => {
  await using page = await startPage({}, mountDocs);
  const response = await page.get("/docs/");
  assert.equal(response.status, 503);
  assert.match(await response.text(), /npm run docs/);
});
