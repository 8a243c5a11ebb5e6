// From an empty folder to a rolled-back deployment, with the real program, service and telephone stream.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { runProgram } from "../harness/program.ts";
import { until } from "../../testing/wait.ts";
import type { WatchedProcess } from "../harness/watched-process.ts";
import { startOnTerminal, startVocalhost, vocalhost, type Desk } from "./vocalhost-process.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const CREATE = join(REPOSITORY, "packages/create-vocalhost/bin/create-vocalhost.js");
const SOON_MS = 60_000;

interface CallAnswer {
  ok: boolean;
  summary: { outcome: { type: string; by?: string }; heard: { audibleSeconds: number } };
}

describe("from an empty folder to a rollback", () => {
  const root = mkdtempSync(join(tmpdir(), "vocalhost-story-"));
  const desk: Desk = {
    folder: join(root, "my-bot"),
    environment: { XDG_CONFIG_HOME: join(root, "config"), VOCALHOST_DATA_DIR: join(root, "data") },
  };
  let service: WatchedProcess;
  let logs: WatchedProcess;

  after(async () => {
    await logs?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    rmSync(root, { recursive: true, force: true });
  });

  /** The bot's code with another sentence in it. */
  function botSays(sentence: string): void {
    const file = join(desk.folder, "bot.ts");
    const code = readFileSync(file, "utf8").replace(/^ {2}process\.stdout\.write.*\n/m, "");
    const line = `  process.stdout.write("${sentence}\\n");\n`;
    writeFileSync(file, code.replace(/(.*createTransport\(args\);\n)/, `$1${line}`));
  }

  async function json<T>(...words: string[]): Promise<T> {
    const { exitCode, output, errors } = await vocalhost(desk, [...words, "--json", "--yes"]);
    assert.equal(exitCode, 0, output + errors);
    return JSON.parse(output) as T;
  }

  /** Words for `vocalhost call` that reach the hosted agent. */
  async function streamWords(): Promise<string[]> {
    const { wsUrl, token } = await json<{ wsUrl: string; token: string }>("agent", "start", "-t", "telnyx");
    return ["call", "-c", "telnyx", "--to", wsUrl, "--token", token, "--expect-audio", "--json"];
  }

  async function callHosted(): Promise<void> {
    const { exitCode, output } = await vocalhost(desk, [
      ...(await streamWords()),
      "--hang-up-after-silence",
      "3s",
    ]);
    const { ok, summary } = JSON.parse(output) as CallAnswer;
    assert.deepEqual([exitCode, ok], [0, true], output);
    assert.ok(summary.heard.audibleSeconds > 0.5, output);
  }

  const timesLogged = (sentence: string): number => logs.output().split(sentence).length - 1;

  test("a new project answers a call on this machine", async () => {
    const made = await runProgram(CREATE, { args: ["my-bot", "--yes", "--no-install"], workingFolder: root });
    assert.equal(made.code, 0, made.errors);
    symlinkSync(join(REPOSITORY, "node_modules"), join(desk.folder, "node_modules")); // as if installed
    botSays("this is version one");
    await using dev = startVocalhost(desk, ["dev", "--port", "0", "--no-open"]);
    const [, port] = await dev.printed(/Talk to it\s+http:\/\/[^:]+:(\d+)/);
    const words = [
      "call",
      "--to",
      `ws://localhost:${port}/ws`,
      "--expect-audio",
      "--hang-up-after-silence",
      "3s",
    ];
    const { exitCode, output, errors } = await vocalhost(desk, words);
    assert.equal(exitCode, 0, output + errors);
    assert.match(dev.output(), /this is version one/);
  });

  test("up shows addresses and keys, and signs in", async () => {
    service = startVocalhost(desk, ["up", "--port", "0"]);
    const [, file = ""] = await service.printed(
      /Signed in: vocalhost deploy now works on this machine \((.*)\)/,
    );
    // Its own words and ours come on two pipes, in no promised order.
    await service.printed(/Vocalhost is running\.[^]*API {10}http:[^]*Private key {2}sk_[^]*Owner link/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  test("deploy on a terminal asks, shows every state and ends with what to do next", async () => {
    await using deploy = startOnTerminal(desk, ["deploy"]);
    await deploy.printed(/Deploy 'my-bot'\?/);
    deploy.process.stdin?.write("\r");
    await deploy.printed(/vocalhost logs my-bot -f/);
    const shown = stripVTControlCharacters(deploy.output());
    const story = [
      "'my-bot' is new:",
      /source +a new build of \d+ files/,
      "bot.ts can be loaded",
      /Built [0-9a-f]{8} in/,
      /⠋ Rolling out/,
      /(?:Creating|Validating): /, // how far it is when it is looked at
      "Active: ",
      /'my-bot' is live: deployment [0-9a-f]{8}/,
      /Talk to it +http:/,
    ];
    let rest = shown;
    for (const part of story) {
      const at = typeof part === "string" ? rest.indexOf(part) : rest.search(part);
      assert.notEqual(at, -1, `${String(part)} in\n${rest}`);
      rest = rest.slice(at);
    }
    assert.equal(await deploy.end(), 0);
  });

  test("the hosted agent answers a call, and its log shows it", async () => {
    logs = startVocalhost(desk, ["logs", "-f"]);
    await logs.printed(/Following 'my-bot' on all instances/);
    await callHosted();
    await logs.printed(/^\S+ \S+Z [0-9a-f]{8} this is version one$/m);
  });

  test("a second deployment serves the next call and does not cut the live one", async () => {
    const words = await streamWords();
    await using live = startVocalhost(desk, [...words, "--hang-up-after", "2m"]);
    await until(() => timesLogged("this is version one") === 2, SOON_MS, "second session");
    const [session] = (await active()).sessions;
    botSays("this is version two");
    const { exitCode, output, errors } = await vocalhost(desk, ["deploy", "--yes"]);
    assert.equal(exitCode, 0, errors);
    assert.match(errors, /'my-bot' changes:\n {2}source {2}build \S+ → a new build of/);
    assert.match(output, /'my-bot' is live/);
    await callHosted();
    await logs.printed(/this is version two/);
    await until(
      async () => {
        const { sessions } = await active();
        return sessions.length === 1 && sessions[0]?.sessionId === session?.sessionId;
      },
      SOON_MS,
      "end of all calls but the live one",
    );
    live.process.kill("SIGINT");
    const [line = ""] = await live.printed(/^\{.*\}$/m);
    const { summary } = JSON.parse(line) as CallAnswer;
    assert.equal(summary.outcome.by, "caller", line); // until then no side had hung up
  });

  test("a redeploy of the same makes no deployment, and a dry run none at all", async () => {
    const same = await json<{ isNewDeployment: boolean }>("deploy");
    assert.equal(same.isNewDeployment, false);
    const dry = await vocalhost(desk, [
      "deploy",
      "--dry-run",
      "--min-agents",
      "1",
      "--vendor-viva-audio-filter",
      "tel",
    ]);
    assert.match(dry.output, /min agents {4}0 → 1\n {2}audio filter {2}none → tel\n\nNothing was changed/);
    assert.equal((await json<{ deployments: [] }>("agent", "deployments")).deployments.length, 2);
  });

  test("a rollback brings the first text back", async () => {
    const before = timesLogged("this is version one");
    const { exitCode, output, errors } = await vocalhost(desk, ["agent", "rollback", "--yes"]);
    assert.equal(exitCode, 0, errors);
    assert.match(output, /^'my-bot' is back at [0-9a-f]{8}, as deployment/);
    await callHosted();
    await until(() => timesLogged("this is version one") > before, SOON_MS, "first version");
  });

  test("Ctrl-C ends the log and the service in order", async () => {
    assert.equal(await logs.end("SIGINT"), 130);
    assert.match(logs.output(), /Stopped following\. The agent keeps running\./);
    assert.equal(await service.end("SIGINT"), 130);
    assert.match(service.output(), /Shutting down[^]*Everything has shut down cleanly\./);
  });

  function active(): Promise<{ sessions: { sessionId: string }[] }> {
    return json("agent", "sessions", "--status", "active");
  }
});
