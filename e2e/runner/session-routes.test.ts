import assert from "node:assert/strict";
import { once } from "node:events";
import { after, describe, test } from "node:test";
import { call, parseAnswer, rawExchange, type Answer } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket, tryUpgrade } from "../harness/socket-client.ts";
import { until, within } from "../../testing/wait.ts";
import { WebSocket } from "ws";

const runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts" });
const { port } = runner;
after(() => runner[Symbol.asyncDispose]());

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

async function start(transport: string, body?: unknown): Promise<{ id: string; answer: Answer }> {
  const answer = await call(port, "POST /start", { body: { transport, body } });
  return { id: answer.headers["x-vocalhost-session-id"] ?? "", answer };
}

/** Sends the path as it is; clients of every kind would tidy it up. */
async function bare(line: string): Promise<Answer> {
  const head = `${line} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`;
  return parseAnswer(await rawExchange(port, head));
}

describe("custom routes under a session", () => {
  for (const transport of ["webrtc", "websocket"])
    for (const method of METHODS)
      test(`${method} of a ${transport} session`, async () => {
        const { id } = await start(transport);
        const body = method === "GET" || method === "DELETE" ? undefined : { word: "hello" };
        const answer = await call(port, `${method} /sessions/${id}/mirror?a=1&b=%2F`, { body });
        assert.equal(answer.status, 200, answer.body);
        assert.deepEqual(answer.json(), {
          method,
          sessionId: id,
          query: { a: "1", b: "/" },
          body: body ?? null,
        });
      });

  test("longer paths are found, and the own path of a route knows no session", async () => {
    const { id } = await start("webrtc");
    assert.equal((await call(port, `GET /sessions/${id}/mirror/deeper`)).json().sessionId, id);
    assert.equal((await call(port, "GET /mirror")).json().sessionId, null);
  });

  test("a WebSocket of one's own", async () => {
    const { id } = await start("websocket");
    for (const [path, name] of [
      [`/sessions/${id}/mirror-socket`, id],
      ["/mirror-socket", "no session"],
    ]) {
      const socket = new WebSocket(`ws://localhost:${port}${path}`);
      await within(once(socket, "open"), 15_000, "opening");
      socket.send("hello");
      const [data] = (await within(once(socket, "message"), 15_000, "reply")) as [Buffer];
      assert.equal(data.toString(), `${name}: hello`);
      socket.terminate();
    }
  });

  test("failures inside are not shown, mistakes of the caller are", async () => {
    assertRefused(await call(port, "GET /breaks"), "INTERNAL_SERVER_ERROR", "Internal server error");
    const wrong = await call(port, "POST /wants-a-name", { body: {} });
    assert.ok(wrong.status >= 400 && wrong.status < 500, `${wrong.status} ${wrong.body}`);
    assert.match(wrong.json().detail, /name/);
  });
});

describe("what is not served under a session", () => {
  test("an unknown session", async () => {
    for (const method of METHODS)
      for (const path of ["/sessions/unknown/mirror", "/sessions/unknown", "/sessions/unknown/"])
        assertRefused(
          await call(port, `${method} ${path}`),
          "SESSION_NOT_FOUND",
          "Invalid or not-yet-ready session_id",
        );
    const upgrade = await tryUpgrade(`ws://localhost:${port}/sessions/unknown/mirror-socket`);
    assertRefused(upgrade, "SESSION_NOT_FOUND");
  });

  test("a path without a route", async () => {
    const { id } = await start("webrtc");
    for (const path of ["", "/", "/nothing", "/mirror/nothing"])
      assertRefused(await call(port, `GET /sessions/${id}${path}`), "NOT_FOUND");
  });

  test("the server's own routes, however they are spelt", async () => {
    const { id } = await start("webrtc");
    const lines = [
      "POST /start",
      "GET /status",
      "GET /client/",
      "GET /files/x",
      "GET /ws-client",
      `GET /sessions/${id}/mirror`,
      "POST /%73tart",
      "GET /statu%73",
      "GET /%63lient/",
      "GET /status#x",
      "GET /%2573tatus",
      "GET //status",
      "GET /./status",
      "GET /x/../status",
      "GET /%2e%2e/status",
      "GET /..%2fstatus",
      "GET /\\status",
    ];
    for (const line of lines) {
      const [method, path] = line.split(" ");
      const answer = await bare(`${method} /sessions/${id}${path}`);
      assert.equal(answer.status, 404, `${line}: ${answer.status} ${answer.body}`);
    }
  });

  test("a session that is over", async () => {
    const { id, answer } = await start("websocket");
    const client = await openSocket(answer.json().wsUrl);
    assert.equal((await call(port, `GET /sessions/${id}/mirror`)).status, 200);
    client.socket.close();
    const gone = await until(
      async () => {
        const later = await call(port, `GET /sessions/${id}/mirror`);
        return later.status !== 200 && later;
      },
      15_000,
      "end of the session",
    );
    assertRefused(gone, "SESSION_NOT_FOUND");
  });
});

describe("WS /ws-client", () => {
  async function callOf(sessionId: string): Promise<{ kind: string; body: unknown; transportType: string }> {
    const calls = async () => (await call(port, "GET /calls")).json() as { sessionId: string }[];
    const found = async () => (await calls()).find((made) => made.sessionId === sessionId);
    return (await until(found, 15_000, "call of the bot")) as never;
  }

  test("a started session gets its body and its id", async () => {
    const { id, answer } = await start("websocket", { order: 66 });
    using client = await openSocket(answer.json().wsUrl);
    const { kind, body, transportType } = await callOf(id);
    assert.deepEqual([kind, body, transportType], ["websocket", { order: 66 }, "websocket"]);
    client.sendMessage({ label: "rtvi-ai", type: "client-ready", id: "r1", data: { version: "2.1.0" } });
    assert.equal((await client.message("bot-ready")).id, "r1");
    client.sendMessage({ label: "rtvi-ai", type: "client-message", id: "m1", data: { t: "ask", d: [1] } });
    assert.deepEqual((await client.message("server-response")).data, { t: "ask", d: [1] });
    for (let at = 0; at < 50; at += 1) client.sendAudio(new Int16Array(320).fill(at % 2 ? 9_000 : -9_000));
    await until(() => client.heardMs >= 1_000 && client.peak > 1_000, 15_000, "echo");
  });

  test("without a start a session is made", async () => {
    const before = (await call(port, "GET /calls")).json().length as number;
    using client = await openSocket(`ws://localhost:${port}/ws-client`);
    const calls = await until(
      async () => {
        const all = (await call(port, "GET /calls")).json() as { body: unknown }[];
        return all.length > before && all;
      },
      15_000,
      "call of the bot",
    );
    assert.deepEqual(calls.at(-1)?.body, {});
    assert.equal(client.socket.readyState, WebSocket.OPEN);
  });

  test("one socket per session, and only for sessions that wait for one", async () => {
    const { answer } = await start("websocket");
    const tries = await Promise.all(Array.from({ length: 20 }, () => tryUpgrade(answer.json().wsUrl)));
    assert.equal(tries.filter(({ status }) => status === 101).length, 1);
    for (const refused of tries.filter(({ status }) => status !== 101))
      assertRefused(refused, "SESSION_NOT_FOUND");
    const { id } = await start("webrtc");
    for (const session of [id, "unknown", ""])
      assertRefused(
        await tryUpgrade(`ws://localhost:${port}/ws-client?session=${session}`),
        "SESSION_NOT_FOUND",
      );
    for (const { client } of tries) client?.socket.terminate();
  });

  test("a plain request makes no session", async () => {
    const sessions = async (): Promise<number> => (await call(port, "GET /figures")).json().sessions;
    const before = await sessions();
    for (const path of ["/ws-client", "/ws-client/token"])
      assertRefused(await call(port, `GET ${path}`), "NOT_FOUND");
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 1\r\n";
    await rawExchange(port, `GET /ws-client HTTP/1.1\r\nHost: localhost:${port}\r\n${upgrade}\r\n`);
    assert.ok((await sessions()) <= before); // those of earlier tests may end meanwhile
  });
});
