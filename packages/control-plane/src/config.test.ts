import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "./config.ts";

test("instances are processes unless another driver is named, and only one that exists can be", () => {
  const process = { kind: "process", folder: "/data/instances", users: undefined };
  assert.deepEqual(readConfig({ VOCALHOST_DATA_DIR: "/data" }).driver, process);
  assert.deepEqual(readConfig({ VOCALHOST_DATA_DIR: "/data", VOCALHOST_DRIVER: "process" }).driver, process);
  assert.throws(() => readConfig({ VOCALHOST_DRIVER: "docker" }), {
    name: "ConfigError",
    message: 'VOCALHOST_DRIVER must be one of process, got "docker"',
  });
});
