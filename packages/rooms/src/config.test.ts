import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "./config.ts";

test("without settings it listens on loopback with a secret of its own", () => {
  const { options, isSecretNew } = readConfig({});
  assert.deepEqual(options.listen, { host: "127.0.0.1", port: 7880 });
  assert.ok(isSecretNew && options.apiSecret.length >= 32);
});

test("settings are read", () => {
  const { options } = readConfig({
    VOCALHOST_ROOMS_API_KEY: "key",
    VOCALHOST_ROOMS_API_SECRET: "a secret of thirty-two characters",
    VOCALHOST_ROOMS_LISTEN: "[::]:8000",
    VOCALHOST_ROOMS_UDP_PORT: "5000",
    VOCALHOST_ROOMS_PUBLIC_ADDRESS: "203.0.113.7",
    VOCALHOST_ROOMS_ICE_SERVERS: '[{"urls":["stun:stun.example:3478"]}]',
    VOCALHOST_ROOMS_MAX_PARTICIPANTS: "4",
    VOCALHOST_ROOMS_BOT_ADDRESSES: "10.89.0.1, fd00::1",
    VOCALHOST_ROOMS_BOT_PORT: "5001",
  });
  assert.deepEqual(options.bots, { addresses: ["10.89.0.1", "fd00::1"], port: 5_001 });
  assert.deepEqual(options.listen, { host: "::", port: 8_000 });
  assert.deepEqual(options.media, {
    udpPort: 5_000,
    announcedAddress: "203.0.113.7",
    allowPrivateCandidates: false,
  });
  assert.deepEqual(options.iceServers, [{ urls: ["stun:stun.example:3478"] }]);
  assert.deepEqual(options.limits, { participantsPerRoom: 4 });
});

test("wrong settings are named, all of them", () => {
  const wrong = {
    VOCALHOST_ROOMS_API_SECRET: "short",
    VOCALHOST_ROOMS_UDP_PORT: "many",
    VOCALHOST_ROOMS_LISTEN: "here",
    VOCALHOST_ROOMS_BOT_ADDRESSES: "bridge",
  };
  assert.throws(
    () => readConfig(wrong),
    (error: Error) => Object.keys(wrong).every((name) => error.message.includes(name)),
  );
});
