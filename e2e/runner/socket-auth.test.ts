import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { call } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { tryUpgrade, type Upgrade } from "../harness/socket-client.ts";
import { until } from "../../testing/wait.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/clock-bot.ts", flags: ["--ws-auth", "token"] });
const { port } = runner;
after(() => runner[Symbol.asyncDispose]());

interface Started {
  wsUrl: string;
  token: string;
  sessionId: string;
}

async function start(body: unknown = {}): Promise<Started> {
  const answer = await call(port, "POST /start", { body: { transport: "websocket", body } });
  return { ...answer.json(), sessionId: answer.headers["x-vocalhost-session-id"] };
}

async function callsOf(sessionId: string): Promise<{ body: unknown; ended: unknown }[]> {
  const calls = (await call(port, "GET /calls")).json() as {
    sessionId: string;
    body: unknown;
    ended: unknown;
  }[];
  return calls.filter((made) => made.sessionId === sessionId);
}

async function oneCallOf(sessionId: string): Promise<{ body: unknown }> {
  const calls = await until(
    async () => {
      const made = await callsOf(sessionId);
      return made.length > 0 && made;
    },
    15_000,
    "call of the bot",
  );
  assert.equal(calls.length, 1);
  return calls[0]!;
}

async function sessions(): Promise<number> {
  return (await call(port, "GET /figures")).json().sessions;
}

function hangUp(...upgrades: Upgrade[]): void {
  for (const { client } of upgrades) client?.socket.terminate();
}

describe("a token", () => {
  test("comes with the start, as released clients want it", async () => {
    const answer = await call(port, "POST /start", { body: { transport: "websocket" } });
    const { wsUrl, token, ...rest } = answer.json();
    assert.deepEqual(rest, {});
    assert.equal(wsUrl, `ws://localhost:${port}/ws-client`);
    assert.match(token, /^[\w-]+\.[0-9a-f]{64}$/);
    const { exp, jti } = JSON.parse(Buffer.from(token.split(".")[0], "base64url").toString());
    assert.ok(Math.abs(exp - Date.now() / 1000 - 300) < 10);
    assert.match(jti, /^[0-9a-f]{16}$/);
    const webrtc = (await call(port, "POST /start", { body: { transport: "webrtc" } })).json();
    assert.deepEqual(Object.keys(webrtc), ["sessionId"]);
  });

  const ways: [string, (started: Started) => Promise<Upgrade>][] = [
    ["in the path", ({ wsUrl, token }) => tryUpgrade(`${wsUrl}/${token}`)],
    ["as bearer", ({ wsUrl, token }) => tryUpgrade(wsUrl, { authorization: `Bearer ${token}` })],
    ["as bearer, shouted", ({ wsUrl, token }) => tryUpgrade(wsUrl, { authorization: `BEARER  ${token}` })],
    ["in the query", ({ wsUrl, token }) => tryUpgrade(`${wsUrl}?token=${encodeURIComponent(token)}`)],
  ];
  for (const [what, open] of ways)
    test(`${what} opens its session once`, async () => {
      const body = { way: what };
      const started = await start(body);
      const first = await open(started);
      assert.equal(first.status, 101, first.body);
      assert.deepEqual((await oneCallOf(started.sessionId)).body, body);
      assertRefused(await open(started), "TOKEN_INVALID");
      hangUp(first);
      await until(
        async () => (await callsOf(started.sessionId))[0]?.ended === "client-lost",
        15_000,
        "end of the session",
      );
      assertRefused(await open(started), "TOKEN_INVALID");
    });

  test("in fifty hands at once opens one socket and one session", async () => {
    const before = await sessions();
    const started = await start();
    const tries = await Promise.all(
      Array.from({ length: 50 }, () => tryUpgrade(`${started.wsUrl}/${started.token}`)),
    );
    assert.equal(tries.filter(({ status }) => status === 101).length, 1);
    for (const refused of tries.filter(({ status }) => status !== 101))
      assertRefused(refused, "TOKEN_INVALID");
    await oneCallOf(started.sessionId);
    assert.ok((await sessions()) <= before + 1); // those of earlier tests may end meanwhile
    hangUp(...tries);
  });

  test("changed in any place is none, and the true one is still good", async () => {
    const started = await start();
    const { token } = started;
    const places = Array.from({ length: token.length }, (_, at) => at);
    const changed = places.map(
      (at) => token.slice(0, at) + (token[at] === "0" ? "1" : "0") + token.slice(at + 1),
    );
    const [payload, signature] = token.split(".");
    const forged = Buffer.from(JSON.stringify({ exp: 4e9, jti: "0".repeat(16) })).toString("base64url");
    const others = [
      `${payload}.`,
      `.${signature}`,
      `${payload}`,
      `${token}.`,
      `${token}0`,
      `${forged}.${signature}`,
      `${payload}.${signature?.toUpperCase()}`,
      "a.b",
      "undefined",
    ];
    for (const wrong of [...changed, ...others])
      assertRefused(await tryUpgrade(`${started.wsUrl}?token=${encodeURIComponent(wrong)}`), "TOKEN_INVALID");
    assert.deepEqual(await callsOf(started.sessionId), []);
    const good = await tryUpgrade(`${started.wsUrl}/${token}`);
    assert.equal(good.status, 101, good.body);
    hangUp(good);
  });

  test("that is missing or given in an unsupported way", async () => {
    const before = await sessions();
    const { wsUrl, token, sessionId } = await start();
    assertRefused(await tryUpgrade(wsUrl), "TOKEN_INVALID", "Invalid WebSocket token");
    assertRefused(await tryUpgrade(`${wsUrl}?session=${sessionId}`), "TOKEN_INVALID");
    assertRefused(await tryUpgrade(wsUrl, { authorization: `Basic ${token}` }), "TOKEN_INVALID");
    assertRefused(await tryUpgrade(wsUrl, { cookie: `token=${token}` }), "TOKEN_INVALID");
    assertRefused(await tryUpgrade(`${wsUrl}?token=`), "TOKEN_INVALID");
    assertRefused(await tryUpgrade(`${wsUrl}?token=${token}&token=${token}`), "TOKEN_INVALID");
    assert.deepEqual(await callsOf(sessionId), []);
    assert.ok((await sessions()) <= before + 1); // those of earlier tests may end meanwhile
  });

  test("of another runner", async () => {
    const flags = ["--ws-auth", "token"];
    await using other = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts", flags });
    const { token } = (await call(other.port, "POST /start", { body: { transport: "websocket" } })).json();
    assertRefused(await tryUpgrade(`ws://localhost:${port}/ws-client/${token}`), "TOKEN_INVALID");
  });

  test("does not make a foreign page welcome", async () => {
    const { wsUrl, token } = await start();
    const headers = { origin: "https://evil.example" };
    assertRefused(await tryUpgrade(`${wsUrl}/${token}`, headers), "ORIGIN_NOT_ALLOWED");
    assertRefused(await tryUpgrade(wsUrl, headers), "TOKEN_INVALID");
  });

  test("expires after five minutes", async () => {
    const early = await start();
    const late = await start();
    const setClock = (aheadMs: number) => call(port, "POST /clock", { body: { aheadMs } });
    await setClock(298_000);
    const inTime = await tryUpgrade(`${early.wsUrl}/${early.token}`);
    assert.equal(inTime.status, 101, inTime.body);
    await setClock(302_000);
    assertRefused(await tryUpgrade(`${late.wsUrl}/${late.token}`), "TOKEN_INVALID");
    await setClock(0);
    hangUp(inTime);
  });
});

describe("listening to other machines", () => {
  test("switches tokens on and says so", async () => {
    await using open = await startRunnerProcess({
      bot: "e2e/bots/probe-bot.ts",
      flags: ["--host", "0.0.0.0"],
    });
    assert.match(
      open.output(),
      /! Listening on 0\.0\.0\.0: other machines can reach this runner, so WebSockets need a token/,
    );
    const started = (await call(open.port, "POST /start", { body: { transport: "websocket" } })).json();
    assertRefused(await tryUpgrade(started.wsUrl), "TOKEN_INVALID");
    const good = await tryUpgrade(`${started.wsUrl}/${started.token}`);
    assert.equal(good.status, 101);
    hangUp(good);
  });

  test("without tokens is possible, and a warning", async () => {
    const flags = ["--host", "0.0.0.0", "--ws-auth", "none"];
    await using open = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts", flags });
    assert.match(open.output(), /! Listening on 0\.0\.0\.0 without WebSocket tokens: everyone/);
    const upgrade = await tryUpgrade(`ws://localhost:${open.port}/ws-client`);
    assert.equal(upgrade.status, 101);
    hangUp(upgrade);
  });
});
