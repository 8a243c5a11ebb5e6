import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { callBot, createPeerClient, freePeerClients } from "../harness/peer-client.ts";
import { call } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess, type RunnerProcess } from "../harness/runner-process.ts";
import { openSocket, tryUpgrade, type SocketClient } from "../harness/socket-client.ts";
import { until, within } from "../../testing/wait.ts";

after(() => freePeerClients());

const ORDERLY_MS = 10_000;
const AT_ONCE_MS = 3_000;

async function startUnruly(): Promise<RunnerProcess> {
  return startRunnerProcess({ bot: "e2e/bots/unruly-bot.ts" });
}

async function openSession(runner: RunnerProcess, mode: string): Promise<SocketClient> {
  const body = { transport: "websocket", body: { mode } };
  return openSocket((await call(runner.port, "POST /start", { body })).json().wsUrl);
}

async function started(runner: RunnerProcess, sessions: number): Promise<void> {
  await until(
    () => runner.output().split("session started").length > sessions,
    15_000,
    "start of the sessions",
  );
}

/** With what it exits. */
function exit(runner: RunnerProcess, signal: NodeJS.Signals, quietMs = ORDERLY_MS): Promise<number | null> {
  return within(runner.end(signal), quietMs, "exit");
}

describe("shutdown", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    test(`${signal} ends live sessions in order`, async () => {
      await using runner = await startUnruly();
      using socket = await openSession(runner, "echo");
      using deaf = await openSession(runner, "deaf");
      const { sessionId } = (
        await call(runner.port, "POST /start", { body: { body: { mode: "tells its end" } } })
      ).json();
      using peer = await callBot({ port: runner.port, path: `/sessions/${sessionId}/api/offer` });
      await call(runner.port, "POST /start", { body: { transport: "websocket" } });
      await started(runner, 3);
      assert.equal(await exit(runner, signal), 0, runner.output());
      assert.match(
        runner.output(),
        new RegExp(`shutting down, once more to force signal=${signal} sessions=4`),
      );
      assert.match(runner.output(), new RegExp(`${sessionId} was told: shutdown`));
      assert.equal(runner.output().match(/session ended .*reason=shutdown/g)?.length, 4);
      for (const client of [socket, deaf]) assert.equal((await client.closed()).code, 1000);
      await until(() => peer.texts.some((text) => text.includes("peerLeft")), 15_000, "peerLeft");
      await peer.left(15_000);
    });

  test("a bot that does not listen is left behind after the grace", async () => {
    await using runner = await startUnruly();
    using client = await openSession(runner, "hangs");
    await started(runner, 1);
    const sentMs = performance.now();
    assert.equal(await exit(runner, "SIGTERM"), 0, runner.output());
    assert.ok(performance.now() - sentMs > 4_500, "it is given time");
    assert.match(runner.output(), /bot did not return when its signal aborted, abandoned/);
    assert.equal((await client.closed()).code, 1000);
  });

  test("a second signal ends it at once, and not well", async () => {
    await using runner = await startUnruly();
    using client = await openSession(runner, "hangs");
    using peer = await callBot({ port: runner.port, fields: { requestData: { mode: "hangs" } } });
    await started(runner, 2);
    runner.process.kill("SIGTERM");
    await runner.printed(/shutting down/);
    // By itself with 1, or where that takes too long by a SIGKILL of its own.
    assert.notEqual(await exit(runner, "SIGTERM", AT_ONCE_MS), 0);
    assert.ok(client && peer);
  });

  test("meanwhile nothing new begins", async () => {
    await using runner = await startUnruly();
    using client = await openSession(runner, "hangs");
    const { wsUrl } = (await call(runner.port, "POST /start", { body: { transport: "websocket" } })).json();
    using peer = createPeerClient();
    const sdp = await peer.offer();
    await started(runner, 1);
    runner.process.kill("SIGTERM");
    await runner.printed(/shutting down/);
    for (const transport of ["webrtc", "websocket"]) {
      const answer = await call(runner.port, "POST /start", { body: { transport } });
      assertRefused(answer, "SHUTTING_DOWN");
      assert.equal(answer.headers["retry-after"], "1");
    }
    assertRefused(
      await call(runner.port, "POST /api/offer", { body: { sdp, type: "offer" } }),
      "SHUTTING_DOWN",
    );
    assertRefused(await tryUpgrade(`ws://localhost:${runner.port}/ws-client`), "SHUTTING_DOWN");
    assertRefused(await tryUpgrade(wsUrl), "SHUTTING_DOWN");
    await until(() => runner.process.exitCode !== null, 30_000, "exit");
    assert.equal(runner.process.exitCode, 0);
    assert.match(runner.output(), /shutting down.*sessions=2/);
    assert.ok(client);
  });

  test("idle connections hold nothing up", async () => {
    await using runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts" });
    await fetch(`${runner.url}/status`, { headers: { connection: "keep-alive" } }).then((answer) =>
      answer.text(),
    );
    const { client } = await tryUpgrade(`ws://localhost:${runner.port}/mirror-socket`);
    assert.equal(await exit(runner, "SIGTERM", AT_ONCE_MS), 0, runner.output());
    await client?.closed();
  });
});
