import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isAlive } from "../harness/process-figures.ts";
import { call, parseAnswer, rawExchange, statusOf } from "../harness/raw-http.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { aFewAtATime } from "../../testing/wait.ts";

const CANARY = "canary-that-must-not-fly";
const base = mkdtempSync(join(tmpdir(), "vocalhost-paths-"));
const root = join(base, "files");
for (const folder of ["files/sub/deeper", "files/.hidden", "files-evil", "outside"])
  mkdirSync(join(base, folder), { recursive: true });
for (const secret of [
  "secret.txt",
  "outside/secret.txt",
  "files-evil/secret.txt",
  "files/.secret",
  "files/.hidden/secret.txt",
  "files/sub/.env",
])
  writeFileSync(join(base, secret), CANARY);
for (const open of [
  "hello.txt",
  "sub/inner.txt",
  "sub/deeper/100%.txt",
  "..name",
  "sub/%2e%2e",
  "%2e%2e%2fsecret.txt",
])
  writeFileSync(join(root, open), "open");
symlinkSync(join(base, "secret.txt"), join(root, "link-out.txt"));
symlinkSync("../outside", join(root, "link-folder"));
symlinkSync("../secret.txt", join(root, "sub", "link-up.txt"));
symlinkSync("link-loop", join(root, "link-loop"));
symlinkSync("hello.txt", join(root, "link-in.txt"));
symlinkSync(".secret", join(root, "link-hidden.txt"));
symlinkSync("/proc/self/environ", join(root, "link-proc"));
execFileSync("mkfifo", [join(root, "pipe")]);

const runner = await startRunnerProcess({
  bot: "e2e/bots/probe-bot.ts",
  flags: ["-f", root],
  environment: { CANARY },
});
const { port } = runner;
after(async () => {
  await runner[Symbol.asyncDispose]();
  rmSync(base, { recursive: true });
});

const raw = (path: string): Promise<string> =>
  rawExchange(port, Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`, "latin1"));

test("files inside are served, through links inside too", async () => {
  for (const path of [
    "hello.txt",
    "sub/inner.txt",
    "link-in.txt",
    "sub/deeper/100%25.txt",
    "%68ello.txt",
    "sub/%252e%252e",
  ]) {
    const answer = await call(port, `GET /files/${path}`);
    assert.deepEqual([answer.status, answer.body], [200, "open"], path);
    assert.match(answer.headers["content-disposition"] ?? "", /^attachment; filename="/);
  }
});

test("three hundred ways out lead nowhere", async () => {
  const ups = [
    "..",
    "%2e%2e",
    "%2E%2E",
    ".%2e",
    "%2e.",
    "%252e%252e",
    "..%00",
    "..;",
    "%c0%ae%c0%ae",
    "%uff0e%uff0e",
    "...",
    "..\\",
    "..%5c",
    "%2e%2e%5c",
  ];
  const slashes = ["/", "%2f", "%2F", "%252f", "\\", "%5c", "//", "/./"];
  const climbs = ups.flatMap((up) => slashes.map((slash) => `${up}${slash}secret.txt`));
  const deeper = ups.flatMap((up) =>
    slashes.map((slash) => `sub${slash}${up}${slash}${up}${slash}secret.txt`),
  );
  const absolute = [join(base, "secret.txt"), "/etc/passwd", "/proc/self/environ"].flatMap((path) =>
    ["", "/", "%2f", "file://", "file:%2f%2f", "C:"].map((prefix) => prefix + path),
  );
  const sibling = [
    "../files-evil/secret.txt",
    "..%2ffiles-evil%2fsecret.txt",
    "-evil/secret.txt",
    "%2e%2e/files-evil/secret.txt",
  ];
  const links = [
    "link-out.txt",
    "link-folder/secret.txt",
    "link-folder%2fsecret.txt",
    "sub/link-up.txt",
    "link-loop",
    "link-hidden.txt",
    "link-proc",
    "link-folder",
    "link-folder/",
  ];
  const hidden = [
    ".secret",
    "%2esecret",
    ".hidden/secret.txt",
    "%2ehidden/secret.txt",
    "sub/.env",
    "sub/%2eenv",
    "./.secret",
    "sub/../.secret",
  ];
  const odd = [
    "",
    ".",
    "./",
    "sub",
    "sub/",
    "pipe",
    "hello.txt/",
    "hello.txt%00",
    "%00hello.txt",
    "hello.txt%00.png",
    "%",
    "%f",
    "%ff",
    "hello.txt%2f..%2f..%2fsecret.txt",
    "x".repeat(5_000),
    "%2f".repeat(500),
    "../".repeat(500),
    "hello.txt;/../../secret.txt",
    "hello.txt?/../../secret.txt",
    "hello.txt#/../../secret.txt",
    "~/secret.txt",
    "${PWD}/secret.txt",
    "sub/..;/..;/secret.txt",
    "sub/%2e%2e",
    "%2e",
    "..name/../.secret",
  ];
  const tails = [...climbs, ...deeper, ...absolute, ...sibling, ...links, ...hidden, ...odd];
  const paths = [
    ...tails.map((tail) => `/files/${tail}`),
    ...sibling.map((tail) => `/files${tail}`),
    "/files",
    "/files//hello.txt",
    "//files/.secret",
    "/files/../files/.secret",
    "/client/../files/.secret",
    "/client/..%2f..%2fpackage.json",
    "/client/%2e%2e/%2e%2e/package.json",
    "/client/../../../package.json",
  ];
  assert.ok(paths.length >= 300, String(paths.length));
  const served: string[] = [];
  await aFewAtATime(paths, async (path) => {
    const answer = await raw(path);
    const status = statusOf(answer);
    assert.ok(!answer.includes(CANARY), `${path} got out`);
    assert.ok(!/root:.*:0:0|"workspaces"/.test(answer), `${path} got out`);
    assert.ok(
      (status >= 400 && status < 500) || status === 200 || status === 307 || status === 503,
      `${status} for ${path}`,
    );
    if (status === 200) served.push(path);
    if (status === 403 || status === 404) assert.ok(parseAnswer(answer).json().detail);
  });
  const harmless = [
    "/files/hello.txt?/../../secret.txt",
    "/files/hello.txt#/../../secret.txt",
    "/files/sub/%252e%252e",
    "/files/%252e%252e%252fsecret.txt",
  ];
  assert.deepEqual(
    served.filter((path) => !harmless.includes(path)),
    [],
  );
  assert.ok(isAlive(runner.process.pid!));
});

test("what is refused is not even confirmed to exist", async () => {
  for (const pair of [
    ["link-out.txt", "../absent.txt"],
    [".secret", ".absent"],
  ]) {
    const [there, absent] = await Promise.all(pair.map((path) => raw(`/files/${path}`)));
    assert.equal(statusOf(there ?? ""), statusOf(absent ?? ""), pair.join(" and "));
  }
});
