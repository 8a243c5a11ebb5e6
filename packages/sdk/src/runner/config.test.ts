import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { isLoopback, readConfig, type Environment, type RunnerConfig } from "./config.ts";
import { FlagError, parseFlags } from "./flags.ts";

test("what is not set has its default", () => {
  const { signatureKeys, rooms, ...config } = read([]);
  assert.deepEqual(config, {
    host: "localhost",
    port: 7860,
    onlyTransport: undefined,
    proxy: undefined,
    folder: undefined,
    uploads: undefined,
    idleTimeoutSecs: 300,
    dialoutKey: undefined,
    voiceFilter: undefined,
    devSocket: undefined,
    takesCalls: false,
    socketAuth: "none",
    iceServers: [],
    turn: undefined,
    reach: { port: undefined, addresses: [] },
    allowedOrigins: [],
    logLevel: "info",
    logFormat: "text",
    opusComplexity: 5,
    warnings: [],
  });
  assert.ok(Object.values(signatureKeys).every((key) => key === undefined));
  assert.equal(rooms.providers.preferred, "embedded");
  assert.equal(rooms.embedded.listen, false);
  assert.equal(rooms.embedded.media?.udpPort, 0);
});

test("a flag wins over its variable, a variable set to nothing is not set", () => {
  check({ environment: { VOCALHOST_PORT: "1" }, expect: { port: 1 } });
  check({ args: ["--port", "2"], environment: { VOCALHOST_PORT: "1" }, expect: { port: 2 } });
  check({ environment: { VOCALHOST_PORT: "" }, expect: { port: 7860 } });
  check({ environment: { VOCALHOST_HOST: "127.0.0.1" }, expect: { host: "127.0.0.1" } });
  check({ environment: { VOCALHOST_TRANSPORT: "webrtc" }, expect: { onlyTransport: "webrtc" } });
  check({ environment: { VOCALHOST_LOG_FORMAT: "json" }, expect: { logFormat: "json" } });
  check({ environment: { VOCALHOST_OPUS_COMPLEXITY: "0" }, expect: { opusComplexity: 0 } });
  check({ environment: { VOCALHOST_OPUS_COMPLEXITY: "" }, expect: { opusComplexity: 5 } });
});

test("ports are whole numbers a machine has", () => {
  check({ args: ["--port", "0"], expect: { port: 0 } });
  check({ args: ["--port", "65535"], expect: { port: 65_535 } });
  for (const port of ["65536", "-1", "1.5", "http", "", " ", "NaN"])
    refuse({ args: [`--port=${port}`], text: /^--port must be a whole number from 0 to 65535, got / });
});

test("media comes through one port and is announced at addresses, not names", () => {
  check({
    args: ["--media-port", "40000", "--media-address", "203.0.113.7", "2001:db8::7"],
    expect: { reach: { port: 40_000, addresses: ["203.0.113.7", "2001:db8::7"] } },
  });
  check({
    environment: { VOCALHOST_MEDIA_PORT: "40000", VOCALHOST_MEDIA_ADDRESS: "203.0.113.7, 10.0.0.7" },
    expect: { reach: { port: 40_000, addresses: ["203.0.113.7", "10.0.0.7"] } },
  });
  for (const port of ["0", "1024", "65536", "any"])
    refuse({ args: ["--media-port", port], text: /^--media-port must be a port from 1025 to 65535, got / });
  refuse({ args: ["--media-address", "bots.example.com"], text: /not a name: "bots.example.com"$/ });
});

test("TURN servers come with the secret they share with us", () => {
  const turn = { urls: ["turn:turn.example.com"], secret: "s" };
  check({
    environment: { VOCALHOST_TURN_URLS: "turn:turn.example.com", VOCALHOST_TURN_SECRET: "s" },
    expect: { turn },
  });
  refuse({
    environment: { VOCALHOST_TURN_URLS: "turn:turn.example.com" },
    text: /VOCALHOST_TURN_SECRET_FILE$/,
  });
});

test("transports are known, available, or neither", () => {
  check({ args: ["-t", "websocket"], expect: { onlyTransport: "websocket" } });
  check({ args: ["-t", "livekit"], expect: { onlyTransport: "room" } });
  refuse({ args: ["-t", "daily"], text: /set DAILY_API_KEY$/ });
  const daily = read(["-t", "daily"], { DAILY_API_KEY: "k" });
  assert.deepEqual([daily.onlyTransport, daily.rooms.providers.preferred], ["room", "daily"]);
  refuse({ environment: { VOCALHOST_ROOMS_API_SECRET: "short" }, text: /at least 32 characters/ });
  refuse({ args: ["-t", "pigeon"], text: /^--transport must be one of webrtc, websocket, .*got "pigeon"$/ });
});

test("the public name is a bare host name", () => {
  check({ args: ["-x", "Bots.Example.com"], expect: { proxy: "bots.example.com", socketAuth: "token" } });
  check({
    args: ["-x", "bots.example.com:8443"],
    expect: { proxy: "bots.example.com:8443", socketAuth: "token" },
  });
  check({
    args: ["-x", "https://bots.example.com//"],
    expect: {
      proxy: "bots.example.com",
      socketAuth: "token",
      warnings: [`--proxy takes only a host name; using "bots.example.com".`],
    },
  });
  for (const proxy of ["bots.example.com/path", "a b", "user@host", "https://", "wss://x"])
    refuse({ args: ["-x", proxy], text: /^--proxy must be a host name/ });
});

test("beyond this machine WebSockets need a token unless told otherwise", () => {
  check({ args: ["--ws-auth", "token"], expect: { socketAuth: "token", warnings: [] } });
  const warned = (args: string[]) => read(args).warnings.join();
  assert.equal(read(["--host", "0.0.0.0"]).socketAuth, "token");
  assert.match(warned(["--host", "0.0.0.0"]), /^Listening on 0\.0\.0\.0: .* need a token from \/start\.$/);
  assert.equal(read(["--host", "0.0.0.0", "--ws-auth", "none"]).socketAuth, "none");
  assert.match(warned(["--host", "::", "--ws-auth", "none"]), /everyone who can reach this machine/);
  const behind = ["--proxy", "bots.example.com"];
  assert.equal(read(behind).socketAuth, "token");
  assert.equal(read([...behind, "--ws-auth", "none"]).socketAuth, "none");
  assert.match(warned([...behind, "--ws-auth", "none"]), /everyone who can reach that name/);
  assert.equal(read([...behind, "-t", "exotel"]).socketAuth, "none"); // its URL has no place for a token
  refuse({ args: ["--ws-auth", "maybe"], text: /^--ws-auth must be none or token, got "maybe"$/ });
});

test("voice isolation is off, or has a model and an engine", () => {
  const engine = fileURLToPath(import.meta.resolve("@vocalhost/viva"));
  check({ args: ["--voice-filter", "tel"], expect: { voiceFilter: { model: "tel", engine } } });
  check({
    environment: { VOCALHOST_VOICE_FILTER: "pro", VOCALHOST_VIVA_ENGINE: import.meta.filename },
    expect: { voiceFilter: { model: "pro", engine: import.meta.filename } },
  });
  check({ environment: { VOCALHOST_VIVA_ENGINE: "/gone.js" }, expect: { voiceFilter: undefined } });
  refuse({ args: ["--voice-filter", "hifi"], text: /^--voice-filter must be one of tel, pro, got "hifi"$/ });
  refuse({
    args: ["--voice-filter", "tel"],
    environment: { VOCALHOST_VIVA_ENGINE: "/gone.js" },
    text: /^VOCALHOST_VIVA_ENGINE: there is no file \/gone\.js$/,
  });
});

test("origins are origins", () => {
  check({
    args: ["--allowed-origins", "https://A.example.com/", "http://localhost:3000,https://b.example.com:443"],
    expect: {
      allowedOrigins: ["https://a.example.com", "http://localhost:3000", "https://b.example.com"],
    },
  });
  check({
    environment: { VOCALHOST_ALLOWED_ORIGINS: " https://a.example.com , https://b.example.com," },
    expect: { allowedOrigins: ["https://a.example.com", "https://b.example.com"] },
  });
  for (const origin of ["*", "a.example.com", "https://a.example.com/page", "null", "file:///x"])
    refuse({ args: ["--allowed-origins", origin], text: /^--allowed-origins expects origins such as/ });
});

test("variables of other runners are understood, and ours win", () => {
  const theirs = {
    PIPECAT_WEBSOCKET_AUTH: "token",
    PIPECAT_ALLOWED_ORIGINS: "https://theirs.example.com",
    PIPECAT_ICE_SERVERS: "stun:stun.example.com:3478",
  };
  check({
    environment: theirs,
    expect: {
      socketAuth: "token",
      allowedOrigins: ["https://theirs.example.com"],
      iceServers: [{ urls: "stun:stun.example.com:3478" }],
    },
  });
  check({
    environment: { ...theirs, VOCALHOST_WEBSOCKET_AUTH: "none" },
    expect: { socketAuth: "none" },
  });
});

test("verbosity chooses the log level", () => {
  for (const [args, environment, logLevel] of [
    [["-v"], {}, "debug"],
    [["-vv"], {}, "trace"],
    [["-vvvv"], {}, "trace"],
    [[], { VOCALHOST_VERBOSE: "1" }, "debug"],
    [[], { VOCALHOST_VERBOSE: "2" }, "trace"],
    [[], { VOCALHOST_VERBOSE: "yes" }, "info"],
    [["-v"], { VOCALHOST_VERBOSE: "2" }, "debug"],
  ] as const)
    check({ args: [...args], environment, expect: { logLevel } });
});

test("the served folder exists and is known by its real path", () => {
  const base = mkdtempSync(join(tmpdir(), "config-"));
  try {
    mkdirSync(join(base, "real"));
    symlinkSync(join(base, "real"), join(base, "link"));
    writeFileSync(join(base, "file"), "");
    const folder = realpathSync(join(base, "real"));
    assert.equal(read(["-f", "real"], {}, base).folder, folder);
    assert.equal(read(["-f", "link"], {}, base).folder, folder);
    assert.equal(read(["-f", join(base, "link")], {}, "/").folder, folder);
    for (const missing of ["gone", "file"])
      assert.throws(() => read(["-f", missing], {}, base), /--folder: .* is not a folder/);
  } finally {
    rmSync(base, { recursive: true });
  }
});

test("a flag that means nothing is refused with the nearest known one; the bot's own come behind two dashes", () => {
  refuse({ args: ["--transprot", "webrtc"], text: /^--transprot means nothing.*Did you mean --transport\?/ });
  refuse({ args: ["--prot", "80"], text: /Did you mean --port\?/ });
  refuse({
    args: ["--voice", "ann"],
    text: /^--voice means nothing to the runner\. Did you mean --voice-filter\? Flags of your bot's own/,
  });
  refuse({ args: ["--whatsapp"], text: /^--whatsapp is not for this runner/ });
  check({ args: ["--", "--transprot", "webrtc"], expect: { warnings: [] } });
});

test("calls in rooms can be switched off again", () => {
  const environment = { VOCALHOST_DIALIN: "1" };
  check({ environment, expect: { takesCalls: true } });
  check({ args: ["--no-dialin"], environment, expect: { takesCalls: false } });
});

test("idle sessions end after five minutes, after another time, or never", () => {
  check({ expect: { idleTimeoutSecs: 300 } });
  check({ args: ["--idle-timeout", "2.5"], expect: { idleTimeoutSecs: 2.5 } });
  check({ args: ["--idle-timeout", "0"], expect: { idleTimeoutSecs: null } });
  for (const text of ["-1", "soon", "86401"])
    refuse({ args: [`--idle-timeout=${text}`], text: /^--idle-timeout must be seconds/ });
});

test("uploads need a folder, and keep as many as they are told", () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "uploads-")));
  try {
    assert.deepEqual(read(["-u", base]).uploads, { folder: base, maxFiles: 10 });
    const flags = ["--uploads-folder", base, "--uploads-folder-max-files", "3", "--downloads-folder", base];
    const config = read(flags);
    assert.deepEqual([config.uploads, config.folder], [{ folder: base, maxFiles: 3 }, base]);
  } finally {
    rmSync(base, { recursive: true });
  }
  refuse({ args: ["--uploads-folder-max-files", "3"], text: /requires --uploads-folder/ });
  refuse({ args: ["--uploads-folder-max-files", "0"], text: /a whole number from 1/ });
});

test("the key for placing calls is no word that can be guessed", () => {
  check({ expect: { dialoutKey: undefined } });
  check({
    environment: { VOCALHOST_DIALOUT_KEY: "0123456789abcdef" },
    expect: { dialoutKey: "0123456789abcdef" },
  });
  for (const key of ["short", "with a space in it, long enough"])
    refuse({ environment: { VOCALHOST_DIALOUT_KEY: key }, text: /^VOCALHOST_DIALOUT_KEY must have 16/ });
});

test("the encoder's effort is a whole number from 0 to 10", () => {
  for (const text of ["11", "-1", "5.5", "much"])
    refuse({ environment: { VOCALHOST_OPUS_COMPLEXITY: text }, text: /^VOCALHOST_OPUS_COMPLEXITY must be/ });
});

test("which hosts are this machine", () => {
  for (const host of ["localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"])
    assert.ok(isLoopback(host), host);
  for (const host of [
    "0.0.0.0",
    "::",
    "192.168.0.1",
    "localhost.example.com",
    "127.example.com",
    "1127.0.0.1",
  ])
    assert.ok(!isLoopback(host), host);
});

interface Case {
  args?: string[];
  environment?: Environment;
}

function check({ args = [], environment = {}, expect }: Case & { expect: Partial<RunnerConfig> }): void {
  const config = read(args, environment);
  assert.deepEqual({ ...config, ...expect }, config, args.join(" "));
}

function refuse({ args = [], environment = {}, text }: Case & { text: RegExp }): void {
  assert.throws(
    () => read(args, environment),
    (error) => {
      assert.ok(error instanceof FlagError, String(error));
      assert.match(error.message, text);
      return true;
    },
    args.join(" "),
  );
}

function read(args: string[], environment: Environment = {}, workingFolder = "/"): RunnerConfig {
  return readConfig(parseFlags(args), environment, workingFolder);
}
