import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { mintTurnServer, readTurnConfig } from "./turn.ts";

const SECRET = "north";

test("URLs and secret belong together, and what is wrong is named without the secret", () => {
  assert.equal(readTurnConfig({}), undefined);
  const VOCALHOST_TURN_URLS =
    "turn:turn.example.com:3478?transport=udp, turns:[2001:db8::1]:443?transport=tcp";
  assert.deepEqual(readTurnConfig({ VOCALHOST_TURN_URLS, VOCALHOST_TURN_SECRET: SECRET }), {
    urls: ["turn:turn.example.com:3478?transport=udp", "turns:[2001:db8::1]:443?transport=tcp"],
    secret: SECRET,
  });
  assert.throws(() => readTurnConfig({ VOCALHOST_TURN_URLS }), /static-auth-secret.*VOCALHOST_TURN_SECRET/);
  assert.throws(() => readTurnConfig({ VOCALHOST_TURN_SECRET: SECRET }), /needs VOCALHOST_TURN_URLS/);
  for (const wrong of ["stun:turn.example.com", "turn.example.com", "turn:user@turn.example.com", "turn:"])
    assert.throws(
      () => readTurnConfig({ VOCALHOST_TURN_URLS: wrong, VOCALHOST_TURN_SECRET: SECRET }),
      (error: Error) => error.message.includes(`"${wrong}"`) && !error.message.includes(SECRET),
      wrong,
    );
});

test("the secret may be in a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-turn-"));
  try {
    const file = join(folder, "secret");
    const read = () =>
      readTurnConfig({ VOCALHOST_TURN_URLS: "turn:turn.example.com", VOCALHOST_TURN_SECRET_FILE: file });
    assert.throws(read, /VOCALHOST_TURN_SECRET_FILE cannot be read/);
    writeFileSync(file, "\n");
    assert.throws(read, /VOCALHOST_TURN_SECRET_FILE is empty/);
    writeFileSync(file, `${SECRET}\n`);
    assert.equal(read()?.secret, SECRET);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("credentials say until when and for whom, and carry the mark that coturn computes too", () => {
  const turn = { urls: ["turn:turn.example.com"], secret: SECRET };
  // printf 1433895918:ninefingers | openssl dgst -sha1 -hmac north -binary | base64
  assert.deepEqual(
    mintTurnServer(turn, { nowMs: 1_433_895_000_000, validForMs: 917_500, user: "ninefingers" }),
    { urls: turn.urls, username: "1433895918:ninefingers", credential: "jy8hTxmOO7UtEKXqSkSlvakPVYA=" },
  );
  const mint = () => mintTurnServer(turn, { nowMs: 0, validForMs: 1 }).username;
  assert.notEqual(mint(), mint(), "whoever is not named is somebody all the same");
});
