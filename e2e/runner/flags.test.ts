import assert from "node:assert/strict";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { after, describe, test } from "node:test";
import { createBotFolder } from "../harness/bot-folder.ts";
import { runProgram } from "../harness/program.ts";
import { call } from "../harness/raw-http.ts";
import { OPCODES, openRawSocket, rawFrame } from "../harness/raw-socket.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess, type RunnerProcess } from "../harness/runner-process.ts";
import { openSocket, tryUpgrade } from "../harness/socket-client.ts";
import { until } from "../../testing/wait.ts";

const BOT = "e2e/bots/probe-bot.ts";
const files = createBotFolder({ "hello.txt": "hello", "bot.ts": "export { bot } from './gone.ts'" });
after(() => files[Symbol.dispose]());

const TURN = { urls: ["turn:turn.example.com:3478?transport=udp"], username: "me", credential: "secret" };

/** The same options, once as flags and once as variables. */
const FLAGS = [
  ["--host", "127.0.0.1", "-x", "https://Bots.example.com/", "-f", files.path, "--ws-auth", "token", "-v"],
  ["--ice-servers", "stun:stun.example.com:3478", JSON.stringify({ ...TURN, username: "me" })],
  ["--allowed-origins", "https://App.example.com", "http://localhost:5173"],
].flat();
const VARIABLES = {
  VOCALHOST_HOST: "127.0.0.1",
  VOCALHOST_PROXY: "https://Bots.example.com/",
  VOCALHOST_FOLDER: files.path,
  VOCALHOST_WEBSOCKET_AUTH: "token",
  VOCALHOST_VERBOSE: "1",
  VOCALHOST_ICE_SERVERS: JSON.stringify(["stun:stun.example.com:3478", TURN]),
  VOCALHOST_ALLOWED_ORIGINS: "https://App.example.com, http://localhost:5173",
};

const start = (runner: RunnerProcess, body: object) => call(runner.port, "POST /start", { body });

for (const [how, settings] of [
  ["flags", { flags: FLAGS }],
  ["variables", { environment: VARIABLES }],
] as const)
  describe(`by ${how}`, async () => {
    const runner = await startRunnerProcess({ bot: BOT, ...settings });
    after(() => runner[Symbol.asyncDispose]());

    test("the address to listen on", async () => {
      assert.equal(runner.url, `http://127.0.0.1:${runner.port}`);
      await assert.rejects(call(runner.port, "GET /status", { address: "::1" }), /ECONNREFUSED/);
    });

    test("a public name, of which only the name is used", async () => {
      assert.match(runner.output(), /! --proxy takes only a host name; using "Bots\.example\.com"/i);
      const options = { body: { transport: "websocket" }, headers: { host: "bots.example.com" } };
      assert.equal(
        (await call(runner.port, "POST /start", options)).json().wsUrl,
        "wss://bots.example.com/ws-client",
      );
    });

    test("our own page under that name, whatever the proxy makes of Host", async () => {
      const origin = "https://bots.example.com";
      for (const host of ["bots.example.com", `localhost:${runner.port}`])
        assert.equal(
          (await call(runner.port, "GET /status", { headers: { origin, host } })).status,
          200,
          host,
        );
      const headers = { origin: "http://bots.example.com" };
      assertRefused(await call(runner.port, "GET /status", { headers }), "ORIGIN_NOT_ALLOWED");
    });

    test("a folder of files", async () => {
      assert.equal((await call(runner.port, "GET /files/hello.txt")).body, "hello");
    });

    test("tokens for WebSockets", async () => {
      assert.equal(typeof (await start(runner, { transport: "websocket" })).json().token, "string");
      assertRefused(await tryUpgrade(`ws://127.0.0.1:${runner.port}/ws-client`), "TOKEN_INVALID");
    });

    test("ICE servers, which the client gets too", async () => {
      const iceServers = [{ urls: "stun:stun.example.com:3478" }, TURN];
      for (const enableDefaultIceServers of [true, false])
        assert.deepEqual((await start(runner, { enableDefaultIceServers })).json().iceConfig, { iceServers });
    });

    test("allowed origins", async () => {
      const origin = "https://app.example.com";
      const answer = await call(runner.port, "GET /status", { headers: { origin } });
      assert.equal(answer.headers["access-control-allow-origin"], origin);
      const other = await call(runner.port, "GET /status", {
        headers: { origin: "https://other.example.com" },
      });
      assertRefused(other, "ORIGIN_NOT_ALLOWED");
    });

    test("more log", async () => {
      const { token } = (await start(runner, { transport: "websocket" })).json();
      using socket = await openRawSocket(runner.port, `/ws-client/${token}`);
      socket.send(rawFrame({ opcode: OPCODES.binary, masked: false }));
      await runner.printed(/ debug socket error/);
    });
  });

describe("flags", { concurrency: 2 }, () => {
  test("one transport only", async () => {
    await using runner = await startRunnerProcess({ bot: BOT, flags: ["-t", "webrtc"] });
    const status = (await call(runner.port, "GET /status")).json();
    assert.deepEqual(status, { status: "ready", transports: ["webrtc"] });
    const text = "Transport 'websocket' is not allowed. Server is configured for 'webrtc' only (-t webrtc).";
    assertRefused(await start(runner, { transport: "websocket" }), "TRANSPORT_NOT_ALLOWED", text);
    assertRefused(await tryUpgrade(`ws://localhost:${runner.port}/ws-client`), "NOT_FOUND");
    assert.equal((await start(runner, {})).status, 200);
    assertRefused(await call(runner.port, "GET /files/hello.txt"), "NOT_FOUND", /--folder/);
    assert.match(runner.output(), /webrtc only/);
  });

  test("the only transport is the default one, and flags win over variables", async () => {
    const environment = { VOCALHOST_TRANSPORT: "webrtc", VOCALHOST_WEBSOCKET_AUTH: "token" };
    const flags = ["--transport=websocket", "--ws-auth", "none"];
    await using runner = await startRunnerProcess({ bot: BOT, flags, environment });
    const answer = (await start(runner, {})).json();
    assert.match(answer.wsUrl, /\/ws-client\?session=/);
    assert.deepEqual(Object.keys(answer), ["wsUrl"]);
    assertRefused(await call(runner.port, "POST /api/offer", { body: {} }), "NOT_FOUND");
  });

  test("localhost means every address it has, ::1 that one", async () => {
    await using both = await startRunnerProcess({ bot: BOT });
    for (const { address } of await lookup("localhost", { all: true }))
      assert.equal((await call(both.port, "GET /status", { address })).status, 200, address);
    await using six = await startRunnerProcess({ bot: BOT, flags: ["--host", "::1"] });
    assert.equal(six.url, `http://[::1]:${six.port}`);
    const headers = { host: `[::1]:${six.port}` };
    assert.equal((await call(six.port, "GET /status", { address: "::1", headers })).status, 200);
    using client = await openSocket(`ws://[::1]:${six.port}/ws-client`);
    assert.ok(client);
  });

  test("the bot gets all flags, and its own behind two dashes", async () => {
    const flags = ["-vv", "--", "--voice", "alto", "--fast", "--count=-3", "-q", "--porte", "5"];
    await using runner = await startRunnerProcess({ bot: BOT, flags });
    using client = await openSocket(`ws://localhost:${runner.port}/ws-client`);
    const calls = await until(
      async () => {
        const made = (await call(runner.port, "GET /calls")).json();
        return made.length > 0 && made;
      },
      15_000,
      "call",
    );
    assert.deepEqual(calls[0].cliArgs, {
      port: "0",
      voice: "alto",
      fast: true,
      count: "-3",
      q: true,
      porte: "5",
      verbose: 2,
    });
    assert.equal(calls[0].environment, "local");
    assert.ok(client);
  });
});

describe("what cannot be started", { concurrency: 3 }, () => {
  const workingFolder = files.path;
  const bot = new URL(`../../${BOT}`, import.meta.url).pathname;

  // An unreadable flag, an unknown one and one with a wrong value; the parser has a test for each value.
  const bad: [string[], RegExp][] = [
    [["--host", "--port", "0"], /--host needs a value: --host ADDRESS/],
    [["--prot", "80"], /--prot means nothing to the runner\. Did you mean --port\?/],
    [["--ice-servers", "{"], /ICE servers: not valid JSON/],
  ];
  for (const [args, message] of bad)
    test(`node bot.ts ${args.join(" ")}`, async () => {
      const { code, output, errors } = await runProgram(bot, {
        args: ["--port", "0", ...args],
        workingFolder,
      });
      assert.equal(code, 2, errors);
      assert.match(errors, message);
      assert.match(errors, /See --help\./);
      assert.doesNotMatch(errors, / at .*\.ts:\d/, "a stack trace does not help here");
      assert.equal(output, "");
    });

  test("a port that is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const environment = { VOCALHOST_PORT: String(port) };
    const { code, errors } = await runProgram(bot, {
      args: ["--host", "127.0.0.1"],
      workingFolder,
      environment,
    });
    taken.close();
    assert.equal(code, 1);
    assert.match(errors, new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use.*--port ${port + 1}`));
  });

  test("an address of another machine", async () => {
    const { code, errors } = await runProgram(bot, { args: ["--host", "203.0.113.1"], workingFolder });
    assert.equal(code, 1);
    assert.match(errors, /--host 203\.0\.113\.1 is not an address of this machine/);
  });

  test("--help tells every flag and variable, and starts nothing", async () => {
    const { code, output, errors } = await runProgram(bot, { args: ["--help"], workingFolder });
    assert.deepEqual([code, errors], [0, ""]);
    const flags = [
      "host",
      "port",
      "transport",
      "proxy",
      "folder",
      "ws-auth",
      "ice-servers",
      "allowed-origins",
      "verbose",
    ];
    for (const name of flags) assert.match(output, new RegExp(`--${name}\\b.*VOCALHOST_`));
    for (const short of ["-t", "-x", "-f", "-v", "-h"]) assert.ok(output.includes(`${short}, --`), short);
  });
});
