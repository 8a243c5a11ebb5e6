import assert from "node:assert/strict";
import { test } from "node:test";
import { FLAGS, FlagError, helpText, parseFlags, type Flags } from "./flags.ts";

test("the runner's own flags, long and short, with or without an equals sign", () => {
  const spellings = [["--port", "80"], ["--port=80"]];
  for (const args of spellings) check(args, { known: { port: "80" }, all: { port: "80" } });
  for (const args of [["--transport", "webrtc"], ["-t", "webrtc"], ["-t=webrtc"], ["--transport=webrtc"]])
    check(args, { known: { transport: "webrtc" }, all: { transport: "webrtc" } });
  check(["--ws-auth", "token"], { known: { "ws-auth": "token" }, all: { wsAuth: "token" } });
  check(["--port", "1", "--port", "2"], { known: { port: "2" }, all: { port: "2" } });
});

test("a value may look like a number, and after an equals sign like anything", () => {
  check(["--port", "-1"], { known: { port: "-1" }, all: { port: "-1" } });
  check(["--folder=--odd"], { known: { folder: "--odd" }, all: { folder: "--odd" } });
  check(["--folder=a=b"], { known: { folder: "a=b" }, all: { folder: "a=b" } });
  check(["--folder="], { known: { folder: "" }, all: { folder: "" } });
});

test("lists take everything up to the next flag, and add up", () => {
  check(["--allowed-origins", "a", "b", "--port", "1"], {
    known: { "allowed-origins": ["a", "b"], port: "1" },
    all: { allowedOrigins: ["a", "b"], port: "1" },
  });
  check(["--ice-servers=a", "--ice-servers", "b"], {
    known: { "ice-servers": ["a", "b"] },
    all: { iceServers: ["a", "b"] },
  });
  check(["--ice-servers"], { known: { "ice-servers": [] }, all: { iceServers: [] } });
});

test("verbosity is counted", () => {
  for (const [args, count] of [
    [["-v"], 1],
    [["--verbose"], 1],
    [["-vv"], 2],
    [["-v", "-v", "--verbose"], 3],
    [["-v", "-vv"], 3],
  ] as const)
    check([...args], { known: { verbose: count }, all: { verbose: count } });
});

test("the bot's own are those it names, and all behind two dashes", () => {
  const args = ["--voice", "ann", "--loud", "--long-name=x", "-q"];
  const all = { voice: "ann", loud: true, longName: "x", q: true };
  check(args, { unknown: ["--voice", "--loud", "--long-name", "-q"] });
  check(["--", ...args, "word"], { all: { ...all, q: "word" } });
  const { all: named, unknown } = parseFlags(args, ["voice", "loud", "long-name", "q"]);
  assert.deepEqual([named, unknown], [all, []]);
});

test("another name of a flag is that flag", () => {
  check(["--downloads-folder", "x"], { known: { folder: "x" }, all: { folder: "x" } });
});

test("a flag that means nothing comes with the one that looks alike", () => {
  const { unknown } = parseFlags([
    "--prot",
    "1",
    "--transprot",
    "webrtc",
    "--hosts",
    "x",
    "--voice",
    "--colour",
  ]);
  assert.deepEqual(
    unknown.map(({ flag, didYouMean }) => [flag, didYouMean]),
    [
      ["--prot", "port"],
      ["--transprot", "transport"],
      ["--hosts", "host"],
      ["--voice", "voice-filter"],
      ["--colour", undefined],
    ],
  );
});

test("words that belong to no flag are kept", () => {
  check(["bot.ts", "--port", "1", "more"], {
    known: { port: "1" },
    all: { port: "1" },
    words: ["bot.ts", "more"],
  });
  check(["--port", "1", "--", "more", "--port", "2"], {
    known: { port: "1" },
    all: { port: "2" },
    words: ["more"],
  });
  check(["-"], { words: ["-"] });
  check([], {});
});

test("a flag that needs a value says so, and one that takes none too", () => {
  for (const args of [["--port"], ["--port", "--host", "x"], ["-t"], ["--port", "-v"]])
    assert.throws(() => parseFlags(args), FlagError);
  assert.throws(() => parseFlags(["--proxy"]), /^FlagError: --proxy needs a value: --proxy HOST$/);
  assert.throws(() => parseFlags(["--verbose=2"]), /^FlagError: --verbose takes no value, got "2"$/);
});

test("the help is asked for by either name, and names every flag and its variable", () => {
  for (const flag of ["--help", "-h"]) check([flag], { known: { help: 1 }, all: { help: 1 } });
  const help = helpText();
  for (const { name, variable } of FLAGS) {
    assert.ok(help.includes(`--${name}`));
    assert.ok(help.includes(variable));
  }
  for (const line of help.split("\n")) assert.equal(line, line.trimEnd());
});

interface Expected extends Partial<Omit<Flags, "unknown">> {
  unknown?: string[];
}

function check(args: string[], { known = {}, all = {}, words = [], unknown = [] }: Expected): void {
  const flags = parseFlags(args);
  const { known: isKnown, all: isAll, words: isWords } = flags;
  assert.deepEqual(
    { known: isKnown, all: isAll, words: isWords, unknown: flags.unknown.map(({ flag }) => flag) },
    { known, all, words, unknown },
    args.join(" "),
  );
}
