import assert from "node:assert/strict";
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseWav, rmsLevel, writeWav } from "@vocalhost/audio";
import { carrierNames } from "@vocalhost/protocol";
import type { CallSummary } from "@vocalhost/simulator";
import { startBotServer } from "../testing/bot-server.ts";
import { runVocalhost, startVocalhost } from "../testing/run-vocalhost.ts";

const SHORT = ["--microphone-like", "tone", "--hang-up-after", "700ms"];

test("calls a bot over every carrier and hears it", async () => {
  for (const carrier of carrierNames) {
    await using bot = await startBotServer();
    const to = `ws://${bot.host}/ws`;
    const { exitCode, output } = await runVocalhost("call", "-c", carrier, "--to", to, ...SHORT, "--json");
    const { ok, summary, url } = JSON.parse(output) as { ok: boolean; summary: CallSummary; url: string };
    assert.equal(exitCode, 0);
    assert.ok(ok && url.startsWith(to));
    assert.equal(summary.carrier, carrier);
    assert.ok(summary.heard.audibleSeconds > 0);
    assert.deepEqual(summary.outcome, { type: "hung-up", by: "caller", reason: "time-up" });
    assert.equal(summary.violations.length, carrier === "exotel" ? 1 : 0); // chunks as small as the caller's
    assert.equal(bot.messages.at(-1)?.event, carrier === "plivo" ? "media" : "stop");
    assert.ok(bot.messages.some((message) => message.event === "start"));
  }
});

test("says files, presses keys, records both sides, and reports for people without colours", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "vocalhost-call-"));
  const said = join(folder.path, "said.wav");
  const heard = join(folder.path, "heard.wav");
  const both = join(folder.path, "both.wav");
  const samples = Int16Array.from({ length: 8000 }, (_, i) => 6000 * Math.sin(i / 3));
  writeFileSync(said, writeWav({ samples, sampleRateHz: 16_000 }));
  await using bot = await startBotServer();
  const { exitCode, output, errors } = await runVocalhost(
    ...["call", "--to", `ws://${bot.host}/ws`, "--say", said, "--dtmf", "1#"],
    ...["--record", heard, "--record-both", both, "--hang-up-after-silence", "500ms", "--expect-audio"],
  );
  assert.equal(exitCode, 0, errors);
  assert.match(output, /A call of .* over Twilio\. The caller hung up after silence\./);
  assert.match(output, /keys +1#/);
  assert.match(output, /Twilio's protocol was followed\./);
  assert.match(errors, /caller presses 1/);
  assert.ok(!`${output}${errors}`.includes("\u001b"));
  const digits = bot.messages.filter(({ event }) => event === "dtmf").map((message) => message["dtmf"]);
  assert.deepEqual(digits, [
    { track: "inbound_track", digit: "1" },
    { track: "inbound_track", digit: "#" },
  ]);
  assert.ok(rmsLevel(parseWav(readFileSync(heard)).samples) > 0.01);
  assert.equal(readFileSync(both).readUInt16LE(22), 2);
});

test("goes through the webhook, signed, and takes its parameters along", async () => {
  await using bot = await startBotServer({
    xml: (host) =>
      `<Response><Connect><Stream url="wss://${host}/ws/secret"><Parameter name="k" value="v"/></Stream></Connect></Response>`,
  });
  const { exitCode, errors } = await runVocalhost(
    ...[
      "call",
      "--webhook",
      `http://${bot.host}/hook`,
      "--signing-secret",
      "12345",
      "--from",
      "+49301",
      ...SHORT,
    ],
  );
  assert.equal(exitCode, 0, errors);
  const [webhook] = bot.webhooks;
  const fields = new URLSearchParams(webhook?.body);
  assert.equal(fields.get("From"), "+49301");
  assert.match(webhook?.headers["x-twilio-signature"] as string, /^[\w+/]{27}=$/);
  assert.match(bot.upgrades[0]?.["x-twilio-signature"] as string, /^[\w+/]{27}=$/);
  const start = bot.messages.find(({ event }) => event === "start")?.["start"] as Record<string, unknown>;
  assert.deepEqual(start["customParameters"], { k: "v" });
  assert.equal(start["callSid"], fields.get("CallSid"));
});

test("Ctrl-C hangs up in good order and exits with 130", async () => {
  await using bot = await startBotServer();
  const program = startVocalhost("call", "--to", `ws://${bot.host}/ws`, "--hang-up-after", "1m");
  await bot.heard("media");
  program.child.kill("SIGINT");
  const { exitCode, output } = await program.finished;
  assert.equal(exitCode, 130);
  assert.equal(bot.messages.at(-1)?.event, "stop");
  assert.match(output, /You hung up\./);
});

test("calls that go wrong exit with 1 and say why", async () => {
  await using silent = await startBotServer({ onMessage: () => {} });
  await using refusing = await startBotServer({ refuseWith: 403 });
  await using failing = await startBotServer({
    onMessage: (socket, { event }) => event === "media" && socket.close(1011, "the bot failed"),
  });
  await using noXml = await startBotServer({ xml: () => "<Response><Say>Hi</Say></Response>" });
  await using sloppy = await startBotServer({ onMessage: (socket) => socket.send("hello") });
  const table: [string[], RegExp][] = [
    [["--to", "ws://127.0.0.1:1/ws"], /connection refused.*node bot\.ts/s],
    [["--to", `ws://${refusing.host}/ws`], /answered 403: because.*--token/s],
    [["--to", `ws://${silent.host}/ws`, "--expect-audio", ...SHORT], /The bot was never heard/],
    [["--to", `ws://${failing.host}/ws`], /close code 1011.*the bot failed/s],
    [["--to", `ws://${sloppy.host}/ws`, "--strict", ...SHORT], /broke Twilio's protocol/],
    [["--webhook", `http://${noXml.host}/`], /no <Connect><Stream>.*<Say>/s],
    [["--webhook", `http://${silent.host}/`], /answered 404/],
    [["--say", "no-such-file.wav"], /Cannot read no-such-file\.wav/],
    [["--say", import.meta.filename], /Not a WAV file.*sox/s],
  ];
  await Promise.all(
    table.map(async ([words, message]) => {
      const { exitCode, errors } = await runVocalhost("call", ...words);
      assert.match(errors, message);
      assert.equal(exitCode, 1, words.join(" "));
    }),
  );
});

test("a failure is one JSON object too", async () => {
  const { exitCode, output, errors } = await runVocalhost("call", "--to", "ws://127.0.0.1:1/ws", "--json");
  assert.equal(exitCode, 1);
  assert.equal(errors, "");
  const { ok, problem } = JSON.parse(output) as { ok: boolean; problem: { code: string; fixes: string[] } };
  assert.equal(ok, false);
  assert.equal(problem.code, "connection_refused");
  assert.ok(problem.fixes.length > 0);
});

test("wrong words exit with 2, help and version with 0", async () => {
  const table: [string[], exitCode: number, RegExp][] = [
    [["cal"], 2, /Did you mean call/],
    [["call", "--carrier", "vonage"], 2, /Allowed choices are twilio, telnyx, plivo, exotel/],
    [["call", "--jitter", "much"], 2, /is not a time/],
    [["call", "--encoding", "opus"], 2, /has no encoding/],
    [["call", "somewhere", "else"], 2, /too many arguments/],
    [["call", "--help"], 0, /Examples:.*vocalhost call -s hello\.wav/s],
    [["--help"], 0, /call a bot as a telephone carrier would/],
    [["--version"], 0, /^\d+\.\d+\.\d+\n$/],
    [[], 0, /Usage: vocalhost/],
  ];
  await Promise.all(
    table.map(async ([words, expected, text]) => {
      const { exitCode, output, errors } = await runVocalhost(...words);
      assert.match(output + errors, text);
      assert.equal(exitCode, expected, words.join(" "));
    }),
  );
});
