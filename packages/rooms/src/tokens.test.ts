import assert from "node:assert/strict";
import { test } from "node:test";
import { signToken, TokenRefused, verifyToken } from "./tokens.ts";

const KEY = { apiKey: "key", apiSecret: "a secret of thirty-two characters" };

test("a token carries identity, name, metadata, attributes and rights", async () => {
  const token = await signToken(
    {
      identity: "alice",
      name: "Alice",
      metadata: "m",
      attributes: { mood: "good" },
      video: { roomJoin: true, room: "r", canPublish: false },
    },
    KEY,
  );
  assert.deepEqual(await verifyToken(token, KEY), {
    identity: "alice",
    name: "Alice",
    kind: undefined,
    metadata: "m",
    attributes: { mood: "good" },
    video: { roomJoin: true, room: "r", canPublish: false },
  });
});

test("tokens that are expired, of another key or secret, altered or for another audience are refused", async () => {
  const grants = { identity: "alice", video: { roomJoin: true, room: "r" } };
  const good = await signToken(grants, KEY);
  const swapped = good.replace(
    /\.[^.]+\./,
    `.${Buffer.from('{"iss":"key","exp":9999999999}').toString("base64url")}.`,
  );
  await refused(await signToken({ ...grants, validForS: -120 }, KEY), KEY, /expired/);
  await refused(await signToken(grants, { ...KEY, apiKey: "other" }), KEY, /invalid API key/);
  await refused(await signToken(grants, { ...KEY, apiSecret: "another secret of many characters" }), KEY);
  await refused(swapped, KEY);
  await refused(good, { ...KEY, audience: "rooms" }, /aud does not fit/);
  await refused("", KEY);
  await refused("x".repeat(20_000), KEY);
  const forAudience = await signToken(grants, { ...KEY, audience: "rooms" });
  assert.equal((await verifyToken(forAudience, { ...KEY, audience: "rooms" })).identity, "alice");
});

async function refused(
  token: string,
  key: Parameters<typeof verifyToken>[1],
  why = /invalid/,
): Promise<void> {
  await assert.rejects(
    verifyToken(token, key),
    (error: Error) => error instanceof TokenRefused && why.test(error.message),
  );
}
