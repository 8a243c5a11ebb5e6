import type { ExitRecord } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { patientMs } from "../../../../testing/patience.ts";
import { until } from "../../../../testing/wait.ts";
import { spawnInstance } from "../testing/instance-process.ts";

const STUBBORN_BOT = `export const bot = () => new Promise(() => {});`;

const WAITING_BOT = `
export async function bot({ signal }) {
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
`;

test("a bot that ignores the deadline ends with its process", async () => {
  await using instance = spawnInstance({ bot: STUBBORN_BOT });
  const id = randomUUID();
  const events = await instance.events();
  await instance.start(id, { maxDurationMs: 300 });
  const socket = await instance.socket(`/ws-client/${id}`);
  const closed = once(socket, "close");
  assert.equal(await instance.exited(), 0);
  await closed;
  const record = instance.exitRecord(id) as ExitRecord;
  assert.equal(record.reason, "deadline");
  assert.ok(
    record.elapsedMs >= 300 + 5_000 && record.elapsedMs < patientMs(12_000),
    String(record.elapsedMs),
  );
  assert.equal(events.seen.at(-1)?.session?.exit?.reason, "deadline");
});

test("a session without a client is over after its deadline", async () => {
  await using instance = spawnInstance({ bot: WAITING_BOT });
  const id = randomUUID();
  await instance.start(id, { connectDeadlineMs: 200 });
  assert.equal(await instance.exited(), 0);
  const record = instance.exitRecord(id) as ExitRecord;
  assert.equal(record.reason, "never-connected");
  assert.deepEqual(record.marks, {});
});

test("a killed instance leaves a sign of how far it came", async () => {
  await using instance = spawnInstance({ bot: WAITING_BOT });
  const id = randomUUID();
  await instance.start(id);
  type Alive = { sessionId: string; elapsedMs: number; atMs: number } | undefined;
  await until(() => ((instance.aliveRecord() as Alive)?.elapsedMs ?? 0) > 250, 20_000, "sign of life");
  instance.child.kill("SIGKILL");
  await once(instance.child, "exit");
  const alive = instance.aliveRecord() as Alive;
  assert.equal(alive?.sessionId, id);
  assert.ok(Math.abs(Date.now() - alive.atMs) < patientMs(5_000));
  assert.equal(instance.exitRecord(id), undefined);
});

test("an idle instance without a listener ends itself; one with a listener stays", async () => {
  await using alone = spawnInstance({ bot: WAITING_BOT, variables: { aloneMs: "600" } });
  await using kept = spawnInstance({ bot: WAITING_BOT, variables: { aloneMs: "600" } });
  const events = await kept.events();
  assert.equal(await alone.exited(), 0);
  await until(() => events.seen.length > 12, 20_000, "heartbeats");
  assert.equal(kept.child.exitCode, null);
  events.close();
  assert.equal(await kept.exited(), 0);
});

test("a session goes on when its controller is lost", async () => {
  await using instance = spawnInstance({ bot: WAITING_BOT, variables: { aloneMs: "2000" } });
  const id = randomUUID();
  const events = await instance.events();
  await instance.start(id);
  const socket = await instance.socket(`/ws-client/${id}`);
  events.close();
  await until(
    async () => ((await instance.status()).session?.elapsedMs ?? 0) > 3_000,
    20_000,
    "long enough alone",
  );
  const again = await instance.events();
  await until(() => again.seen.at(-1)?.session?.state === "running", 20_000, "its state");
  socket.close();
  assert.equal(await instance.exited(), 0);
  assert.equal((instance.exitRecord(id) as ExitRecord).reason, "client-left");
});

test("SIGTERM ends the session, then the instance; SIGINT does nothing", async () => {
  await using idle = spawnInstance({ bot: WAITING_BOT });
  await idle.address();
  idle.child.kill("SIGINT");
  assert.equal((await idle.status()).ready, true);
  idle.child.kill("SIGTERM");
  assert.equal(await idle.exited(), 0);

  await using busy = spawnInstance({ bot: WAITING_BOT });
  const id = randomUUID();
  await busy.start(id);
  const socket = await busy.socket(`/ws-client/${id}`);
  const closed = once(socket, "close") as Promise<[number]>;
  busy.child.kill("SIGTERM");
  assert.equal((await closed)[0], 1000);
  assert.equal(await busy.exited(), 0);
  assert.equal((busy.exitRecord(id) as ExitRecord).reason, "shutdown");
});

test("what a bot lets slip ends its session with a reason", async () => {
  await using instance = spawnInstance({
    bot: `
      export async function bot({ signal }) {
        setTimeout(() => { throw new Error("slipped"); }, 10);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }
    `,
  });
  const id = randomUUID();
  await instance.start(id);
  const socket = await instance.socket(`/ws-client/${id}`);
  const [code] = (await once(socket, "close")) as [number];
  assert.equal(code, 1011);
  assert.equal(await instance.exited(), 0);
  assert.equal((instance.exitRecord(id) as ExitRecord).reason, "bot-failed");
  assert.match(instance.output(), /slipped/);
});

test("losing the reader of the output ends nothing", async () => {
  await using instance = spawnInstance({
    bot: `
      export async function bot({ signal, websocket }) {
        for (let count = 0; count < 200 && !signal.aborted; count += 1) {
          console.log("x".repeat(10_000));
          await new Promise((resolve) => setImmediate(resolve));
        }
        websocket.send("still here");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }
    `,
  });
  const id = randomUUID();
  await instance.start(id);
  instance.child.stdout.destroy();
  instance.child.stderr.destroy();
  const socket = await instance.socket(`/ws-client/${id}`);
  const [text] = (await once(socket, "message")) as [Buffer];
  assert.equal(String(text), "still here");
  await instance.stop(id);
  assert.equal(await instance.exited(), 0);
});
