// A master key is replaced while the service runs: what the operator types, and what it answers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../testing/wait.ts";
import { startServiceProcess } from "../harness/service-process.ts";
import { vocalhost } from "./vocalhost-process.ts";

test("secrets move to a new master key, and the old one may go", async () => {
  await using service = await startServiceProcess();
  const { dataFolder, api } = service;
  await api.secrets.put("keys", { secretKey: "WORD", secretValue: "parrot" });
  const rotate = () =>
    vocalhost({ folder: dataFolder, environment: {} }, ["master-keys", "rotate", "--data-dir", dataFolder]);
  const keyIds = () =>
    readFileSync(join(dataFolder, "master-keys"), "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(":")[0]);
  const [oldKey] = keyIds();

  const begun = await rotate();
  assert.equal(begun.exitCode, 0, begun.errors);
  const [newKey] = keyIds();
  assert.notEqual(newKey, oldKey);
  assert.match(begun.output, new RegExp(`The key ${newKey} is the first .* run this again`));

  const controller = service.pid("controller");
  process.kill(controller, "SIGTERM");
  const isBack = () =>
    api.secrets.list().then(
      () => service.pid("controller") !== controller,
      () => false,
    );
  await until(isBack, 30_000, "the next controller");
  const done = await rotate();
  assert.equal(done.exitCode, 0, done.errors);
  assert.match(done.output, new RegExp(`Moved 1 secret; all are sealed with ${newKey}`));
  assert.match(done.output, new RegExp(`needs ${oldKey} no longer`));
});
