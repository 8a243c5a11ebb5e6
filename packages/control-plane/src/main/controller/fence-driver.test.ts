import { AppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { DriverUnavailableError } from "@vocalhost/drivers/driver";
import { LeadershipLostError } from "@vocalhost/store/leadership/leader";
import { silentLog } from "@vocalhost/base/log";
import { fenceDriver, newestEpochOf } from "./fence-driver.ts";

const away = (): Promise<never> =>
  Promise.reject(new DriverUnavailableError("The cluster cannot be reached"));

test("a driver that cannot be asked for its newest epoch keeps no controller from leading", async () => {
  assert.equal(await newestEpochOf({ newestEpoch: async () => 41 }, silentLog), 41);
  assert.equal(await newestEpochOf({ newestEpoch: away }, silentLog), 0);
  await assert.rejects(
    newestEpochOf({ newestEpoch: () => Promise.reject(new Error("bug")) }, silentLog),
    /bug/,
  );
});

test("a driver that cannot be fenced off is fenced off later", async () => {
  const { told, ...options } = driverThat([away, async () => undefined]);
  const work = await fenceDriver(options);
  assert.deepEqual(told, []);
  await work?.run(new AbortController().signal);
  assert.deepEqual(told, ["fenced"]);
});

test("one that can be is fenced off at once, and there is nothing left to do", async () => {
  assert.equal(await fenceDriver(driverThat([async () => undefined])), undefined);
});

test("a controller that finds a newer leader at the fence has lost", async () => {
  const stale = (): Promise<never> => Promise.reject(new AppError("EPOCH_STALE"));
  await assert.rejects(fenceDriver(driverThat([stale])), { code: "EPOCH_STALE" });
  const work = await fenceDriver(driverThat([away, stale]));
  await assert.rejects(work?.run(new AbortController().signal) ?? assert.fail(), LeadershipLostError);
});

/** Returns a driver that gives these answers in order. */
function driverThat(answers: (() => Promise<void>)[]) {
  const told: string[] = [];
  const fence = async (): Promise<void> => (answers.shift() ?? assert.fail)();
  return { driver: { fence }, epoch: 7, log: silentLog, fenced: () => void told.push("fenced"), told };
}
