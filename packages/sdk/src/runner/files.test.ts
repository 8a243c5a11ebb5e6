import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import Fastify from "fastify";
import { installErrorReplies } from "../server/error-replies.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { mountFiles } from "./files.ts";

let base = "";
before(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "files-")));
  mkdirSync(join(base, "served", "sub"), { recursive: true });
  mkdirSync(join(base, "served-too"));
  const files = [
    "plain.txt",
    "sub/deep.json",
    "with space.txt",
    "100%.txt",
    "a#b.txt",
    "q?.txt",
    'say "hi".txt',
    "ünï.txt",
    ".env",
  ];
  for (const name of files) writeFileSync(join(base, "served", name), name);
  writeFileSync(join(base, "secret.txt"), "secret");
  writeFileSync(join(base, "served-too", "secret.txt"), "secret");
  symlinkSync(join(base, "secret.txt"), join(base, "served", "way-out.txt"));
  symlinkSync(base, join(base, "served", "way-up"));
  symlinkSync(join(base, "served", "plain.txt"), join(base, "served", "way-round.txt"));
  symlinkSync(join(base, "served", ".env"), join(base, "served", "way-in.txt"));
});
after(() => rmSync(base, { recursive: true }));

test("files of the folder are downloads under their names", async () => {
  const cases: [string, string, string][] = [
    ["plain.txt", "plain.txt", "plain.txt"],
    ["sub/deep.json", "sub/deep.json", "deep.json"],
    ["with%20space.txt", "with space.txt", "with space.txt"],
    ["100%25.txt", "100%.txt", "100%.txt"],
    ["a%23b.txt", "a#b.txt", "a#b.txt"],
    ["q%3F.txt", "q?.txt", "q?.txt"],
    ["say%20%22hi%22.txt", 'say "hi".txt', "say _hi_.txt"],
    ["%C3%BCn%C3%AF.txt", "ünï.txt", "_n_.txt"],
    ["way-round.txt", "plain.txt", "plain.txt"],
  ];
  for (const [path, content, name] of cases) {
    const reply = await get(path);
    assert.equal(reply.statusCode, 200, path);
    assert.equal(reply.body, content, path);
    assert.equal(reply.headers["content-disposition"], `attachment; filename="${name}"`);
  }
  assert.match(String((await get("sub/deep.json")).headers["content-type"]), /^application\/json/);
});

test("nothing outside the folder, and nothing hidden in it, is given", async () => {
  for (const path of [
    "../secret.txt",
    "..%2Fsecret.txt",
    "%2e%2e/secret.txt",
    "%2e%2e%2fsecret.txt",
    "sub/../../secret.txt",
    "..%5Csecret.txt",
    "../served-too/secret.txt",
    "%2Fetc%2Fpasswd",
    "//etc/passwd",
    "way-out.txt",
    "way-up/secret.txt",
    "way-up/served/plain.txt%00",
    ".env",
    "sub/.%2e/.env",
    "way-in.txt",
  ]) {
    const reply = await get(path);
    assert.ok(reply.statusCode === 403 || reply.statusCode === 404, `${path} ${reply.statusCode}`);
    assert.doesNotMatch(reply.body, /^(secret|\.env)$/);
  }
});

test("what is not a file is not found", async () => {
  for (const path of ["gone.txt", "sub", "sub/", "", "plain.txt/x"]) {
    const reply = await get(path);
    assert.equal(reply.statusCode, 404, path);
    assert.equal(reply.json<{ code: string }>().code, "NOT_FOUND");
  }
});

test("without a folder there are no files, and it is said why", async () => {
  const reply = await get("plain.txt", { folder: undefined });
  assert.equal(reply.statusCode, 404);
  assert.match(reply.json<{ detail: string }>().detail, /--folder/);
});

async function get(
  path: string,
  { folder }: { folder: string | undefined } = { folder: join(base, "served") },
) {
  const app = Fastify();
  installErrorReplies(app, createCollectedLog().log);
  mountFiles(app, folder);
  return await app.inject(`/files/${path}`);
}
