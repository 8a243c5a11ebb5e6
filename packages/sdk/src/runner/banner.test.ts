import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { banner } from "./banner.ts";
import { readConfig, type RunnerConfig } from "./config.ts";
import { parseFlags } from "./flags.ts";
import type { Runner } from "./start-runner.ts";

test("says where to talk to the bot, and how", () => {
  const text = shown([]);
  assert.match(text, /^ {2}Talk to it {3}http:\/\/localhost:7860$/m);
  assert.match(text, /^ {2}Transports {3}webrtc, websocket, /m);
  assert.match(text, /^ {2}WebSockets {3}open to this machine$/m);
  assert.doesNotMatch(text, /Voice filter|Origins|Files|Public name|!/);
});

test("says what was set", () => {
  const text = shown([
    "-t",
    "webrtc",
    "-x",
    "bots.example.com",
    "--allowed-origins",
    "https://a.example.com",
    "-f",
    "/",
    "--voice-filter",
    "tel",
  ]);
  assert.match(text, /Voice filter +tel, in every session \(--voice-filter\)$/m);
  assert.match(text, /Transports +webrtc only \(-t\)$/m);
  assert.match(text, /Public name +bots\.example\.com$/m);
  assert.match(text, /Origins +this one, https:\/\/a\.example\.com$/m);
  assert.match(text, /Files +http:\/\/localhost:7860\/files\/ serves \/$/m);
});

test("does not play down that others can come in", () => {
  assert.match(shown(["--host", "0.0.0.0"]), /WebSockets +need a token from \/start$/m);
  const open = shown(["--host", "0.0.0.0", "--ws-auth", "none"]);
  assert.match(open, /WebSockets +open to everyone who can reach 0\.0\.0\.0$/m);
  const behind = ["-x", "bots.example.com"];
  assert.match(shown(behind), /WebSockets +need a token from \/start$/m);
  assert.match(
    shown([...behind, "--ws-auth", "none"]),
    /WebSockets +open to everyone who can reach bots\.example\.com$/m,
  );
  assert.match(open, /^ {2}! Listening on 0\.0\.0\.0 without WebSocket tokens/m);
});

test("names the carriers that are not checked, and those that are", () => {
  const off = shown([], { TELNYX_PUBLIC_KEY: "", PLIVO_AUTH_TOKEN: "x" });
  assert.match(
    off,
    /Signatures +not checked, no key set: Twilio \(TWILIO_AUTH_TOKEN\), Telnyx \(TELNYX_PUBLIC_KEY\)$/m,
  );
  const key = Buffer.alloc(32, 9).toString("base64");
  const on = shown([], { TWILIO_AUTH_TOKEN: "x", TELNYX_PUBLIC_KEY: key, PLIVO_AUTH_TOKEN: "x" });
  assert.match(on, /Signatures +webhooks checked for Twilio, Telnyx and Plivo$/m);
});

test("every label is followed by its text in one column", () => {
  const rows = shown(["-x", "bots.example.com"])
    .split("\n")
    .filter((line) => /^ {2}\S.* {2,}/.test(line));
  assert.ok(rows.length >= 4);
  assert.equal(new Set(rows.map((row) => /^ {2}\S.*? {2,}/.exec(row)?.[0].length)).size, 1);
});

function shown(args: string[], environment: Record<string, string> = {}): string {
  const config: RunnerConfig = readConfig(parseFlags(args), environment, "/");
  const runner = { url: "http://localhost:7860" } as Runner;
  return stripVTControlCharacters(banner(runner, config));
}
