import {
  AliveRecord,
  ExitRecord,
  sharedFileNames,
  instanceVariables,
  INSTANCE_FILE_BYTES,
} from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { compiledCode } from "../../../../testing/compiled-code.ts";
import { nodeFlags, programOf } from "../../../../testing/programs.ts";
import { until, within } from "../../../../testing/wait.ts";

const SDK = fileURLToPath(new URL("../..", import.meta.url));
const TOKEN = randomUUID();

test("what is handed over on standard input is the bot's environment, and files hold what it leaves", async () => {
  using place = makePlace(`
    import { execFileSync } from "node:child_process";
    console.log("key " + process.env.KEY + ", ours " + Object.keys(process.env).filter((name) => /VOCALHOST/.test(name)));
    process.stderr.write(execFileSync("sh", ["-c", "echo from a child >&2; tr '\\\\0' ' ' < /proc/$PPID/environ"], { stdio: ["ignore", "pipe", "inherit"] }));
    export async function bot({ signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    }
  `);
  const child = place.spawn({
    KEY: "hush-hush",
    [instanceVariables.id]: "instance-1",
    [instanceVariables.token]: TOKEN,
    [instanceVariables.heartbeatMs]: "50",
  });
  const exited = once(child, "exit");
  const address = await until(() => place.read("address").trim() || undefined, 20_000, "address");
  const sessionId = randomUUID();
  const started = await fetch(`http://${address}/instance/start`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({
      epoch: 1,
      sessionId,
      transport: "websocket",
      connect: { kind: "socket" },
      maxDurationMs: 60_000,
      connectDeadlineMs: 60_000,
    }),
  });
  assert.equal(started.status, 200);
  await until(() => place.read("alive").trim() !== "", 20_000, "sign of life");
  assert.equal(AliveRecord.parse(JSON.parse(place.read("alive"))).sessionId, sessionId);
  child.kill("SIGTERM");
  assert.deepEqual(await within(exited, 20_000, "exit"), [0, null]);
  const exit = ExitRecord.parse(JSON.parse(place.read("exit")));
  assert.deepEqual([exit.sessionId, exit.reason], [sessionId, "shutdown"]);
  assert.equal(place.read("exit").length, INSTANCE_FILE_BYTES);
  const output = place.read("output");
  assert.match(output, /^key hush-hush, ours \nfrom a child\n/);
  assert.doesNotMatch(
    output.replace(/^key hush-hush/, ""),
    /hush-hush/,
    "not in the process's first environment",
  );
  assert.deepEqual(readdirSync(place.sharedFiles).sort(), Object.values(sharedFileNames).sort());
});

test("an instance without a bootstrap payload ends, and says why", async () => {
  using place = makePlace("export async function bot() {}");
  const child = place.spawn(undefined);
  assert.deepEqual(await within(once(child, "exit"), 20_000, "exit"), [1, null]);
  assert.match(place.read("output"), /ended before the bootstrap payload/);
});

function makePlace(bot: string) {
  const folder = mkdtempSync(join(tmpdir(), "bootstrap-"));
  const [project, sharedFiles] = [join(folder, "project"), join(folder, "slots")];
  mkdirSync(join(project, "node_modules"), { recursive: true });
  symlinkSync(SDK, join(project, "node_modules/vocalhost"));
  writeFileSync(join(project, "package.json"), `{ "type": "module" }`);
  writeFileSync(join(project, "bot.ts"), bot);
  mkdirSync(sharedFiles);
  for (const name of Object.values(sharedFileNames)) writeFileSync(join(sharedFiles, name), "");
  return {
    sharedFiles,
    read: (file: keyof typeof sharedFileNames): string =>
      readFileSync(join(sharedFiles, sharedFileNames[file]), "utf8"),
    spawn(environment: Record<string, string> | undefined) {
      const child = spawn(process.execPath, [...nodeFlags, programOf("sdk", "instance/main")], {
        cwd: project,
        stdio: ["pipe", "ignore", "ignore"],
        env: {
          ...compiledCode,
          PATH: "/usr/bin:/bin",
          [instanceVariables.bootstrap]: "stdin",
          [instanceVariables.folder]: sharedFiles,
        },
      });
      child.stdin.on("error", () => undefined);
      child.stdin.end(environment ? `${JSON.stringify({ environment })}\n` : "");
      return child;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
