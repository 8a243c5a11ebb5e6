import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmod, mkdtempDisposable, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createDataKey, openDataKey, rewrapDataKey } from "./encryption.ts";
import { openMasterKeyFile, parseMasterKeys } from "./master-keys.ts";

const entry = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
const oldEntry = entry("old");
const newEntry = entry("new");
const oldKeys = parseMasterKeys(oldEntry);
const bothKeys = parseMasterKeys(`${newEntry}\n${oldEntry}\n`);
const place = { organizationId: "organization", setId: "set", version: 3 };

test("a value comes back where it belongs", () => {
  const { dataKey, wrapped } = createDataKey(oldKeys, place);
  const ciphertext = dataKey.encrypt("API_KEY", "ünïcode 🔑");
  assert.equal(openDataKey(oldKeys, wrapped, place).decrypt("API_KEY", ciphertext), "ünïcode 🔑");
  assert.notEqual(dataKey.encrypt("API_KEY", "x"), dataKey.encrypt("API_KEY", "x"));
});

test("a ciphertext under another field, version, set or organisation is refused", () => {
  const { dataKey, wrapped } = createDataKey(oldKeys, place);
  const ciphertext = dataKey.encrypt("API_KEY", "value");
  assert.throws(() => dataKey.decrypt("OTHER", ciphertext));
  for (const other of [{ organizationId: "x" }, { setId: "x" }, { version: 4 }]) {
    assert.throws(() => openDataKey(oldKeys, wrapped, { ...place, ...other }));
  }
  // The right data key alone must not open it.
  assert.throws(() => createDataKey(oldKeys, place).dataKey.decrypt("API_KEY", ciphertext));
});

test("every flipped bit and every missing byte is noticed", () => {
  const { dataKey } = createDataKey(oldKeys, place);
  const bytes = Buffer.from(dataKey.encrypt("API_KEY", "value"), "base64");
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const altered = Buffer.from(bytes);
    altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.throws(() => dataKey.decrypt("API_KEY", altered.toString("base64")));
  }
  for (let length = 0; length < bytes.length; length += 1) {
    assert.throws(() => dataKey.decrypt("API_KEY", bytes.subarray(0, length).toString("base64")));
  }
});

test("re-wrapping moves a data key to the first master key and leaves values alone", () => {
  const { dataKey, wrapped } = createDataKey(oldKeys, place);
  const ciphertext = dataKey.encrypt("API_KEY", "value");
  const rewrapped = rewrapDataKey(bothKeys, wrapped, place);
  assert.equal(rewrapped.masterKeyId, "new");
  const newKeys = parseMasterKeys(newEntry);
  assert.equal(openDataKey(newKeys, rewrapped, place).decrypt("API_KEY", ciphertext), "value");
  assert.throws(() => openDataKey(newKeys, wrapped, place), /old is not configured/);
});

test("master keys must be whole and have different ids", () => {
  for (const text of [
    "",
    " \n",
    "id",
    "id:",
    `id:${randomBytes(31).toString("base64")}`,
    `${oldEntry},${oldEntry}`,
  ]) {
    assert.throws(() => parseMasterKeys(text));
  }
  assert.deepEqual(
    parseMasterKeys(`${newEntry},${oldEntry}`).map((key) => key.id),
    ["new", "old"],
  );
});

test("a master key file is made once, for its owner only", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "master-"));
  const path = join(folder.path, "master.key");
  const first = await openMasterKeyFile(path);
  const second = await openMasterKeyFile(path);
  assert.deepEqual([first.created, second.created], [true, false]);
  assert.deepEqual(second.keys, first.keys);
  assert.equal((await stat(path)).mode & 0o777, 0o600);

  await chmod(path, 0o640);
  await assert.rejects(openMasterKeyFile(path), /chmod 600/);
  await chmod(path, 0o600);
  await writeFile(path, "broken");
  await assert.rejects(openMasterKeyFile(path), (error: Error) => !error.message.includes("broken"));
  assert.equal(await readFile(path, "utf8"), "broken");
});
