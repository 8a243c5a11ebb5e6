import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { credentialsFile } from "./credentials-file.ts";
import { DEFAULT_API_URL, findCredentials, requireToken } from "./find-credentials.ts";

const configFolder = mkdtempSync(join(tmpdir(), "vocalhost-credentials-"));
after(() => rmSync(configFolder, { recursive: true, force: true }));

const file = credentialsFile(configFolder);
const stored = { apiUrl: "https://voice.example.com", token: "sk_stored", organization: "acme" };
const mode = (path: string): number => statSync(path).mode & 0o777;

test("the file is its owner's alone, and written whole", async () => {
  assert.equal(await file.read(), undefined);
  await file.write(stored);
  await file.write({ ...stored, token: "sk_second" });
  assert.equal(mode(file.path), 0o600);
  assert.equal(mode(dirname(file.path)), 0o700);
  assert.deepEqual(readdirSync(dirname(file.path)), ["credentials.json"]);
  assert.deepEqual(await file.read(), { credentials: { ...stored, token: "sk_second" } });
  assert.equal(await file.remove(), true);
  assert.equal(await file.remove(), false);
});

test("a file others can read is closed to them, with a remark", async () => {
  await file.write(stored);
  chmodSync(file.path, 0o644);
  const read = await file.read();
  assert.match(read?.remark ?? "", /could read/);
  assert.equal(mode(file.path), 0o600);
  assert.equal((await file.read())?.remark, undefined);
});

test("a file that is damaged is a problem, not a crash", async () => {
  await file.write(stored);
  for (const text of ["", "{", "[]", "null", '{"apiUrl":"file:///etc","token":"x"}', '{"apiUrl":1}']) {
    writeFileSync(file.path, text);
    await assert.rejects(file.read(), { name: "Problem", code: "credentials_invalid" }, text);
  }
});

test("the environment wins, and a stored token goes nowhere else", async () => {
  await file.write(stored);
  const find = (apiUrl?: string, apiKey?: string) => findCredentials({ apiUrl, apiKey, configFolder }, file);
  const seen = async (apiUrl?: string, apiKey?: string): Promise<unknown[]> => {
    const found = await find(apiUrl, apiKey);
    return [found.apiUrl, found.token, found.source];
  };
  assert.deepEqual(await seen(), [stored.apiUrl, "sk_stored", "file"]);
  assert.deepEqual(await seen(undefined, "sk_env"), [stored.apiUrl, "sk_env", "environment"]);
  assert.deepEqual(await seen("https://voice.example.com/"), [stored.apiUrl, "sk_stored", "file"]);
  assert.deepEqual(await seen("https://other.example.com"), ["https://other.example.com", undefined, "none"]);
  assert.deepEqual(await seen("http://voice.example.com"), ["http://voice.example.com", undefined, "none"]);
  assert.deepEqual(await seen("http://localhost:1", "sk_env"), [
    "http://localhost:1",
    "sk_env",
    "environment",
  ]);
  for (const wrong of ["voice.example.com", "ftp://x", "https://user:secret@x"])
    await assert.rejects(find(wrong), { name: "Problem", exitCode: 2 });
  await file.remove();
  assert.deepEqual(await seen(), [DEFAULT_API_URL, undefined, "none"]);
  const nobody = await find();
  assert.throws(() => requireToken(nobody), { name: "Problem", code: "not_signed_in" });
});
