import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { until } from "../../testing/wait.ts";
import { call } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { openSocket } from "../harness/socket-client.ts";
import { keepTalking } from "../harness/talk.ts";

const BOT = "e2e/bots/probe-bot.ts";

describe("a runner that keeps files and ends idle sessions", async () => {
  const folder = mkdtempSync(join(tmpdir(), "uploads-"));
  writeFileSync(join(folder, "not-ours.txt"), "stays");
  const flags = ["-u", folder, "--uploads-folder-max-files", "2", "--idle-timeout", "2"];
  const runner = await startRunnerProcess({ bot: BOT, flags });
  after(async () => {
    await runner[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const upload = (content: string, name = "a.txt", headers: Record<string, string> = {}) => {
    const form = new FormData();
    form.set("file", new File([content], name, { type: "text/plain" }));
    return fetch(`${runner.url}/files`, { method: "POST", body: form, headers });
  };

  test("an upload is told back as what send-file takes; the oldest give way, and nothing else", async () => {
    const first = (await (await upload("one", "../../etc/passwd")).json()) as UploadAnswer;
    assert.match(first.source.id, /^vocalhost:[0-9a-f]{32}$/);
    assert.equal(first.format, "text/plain");
    const path = join(folder, first.source.id.slice("vocalhost:".length));
    assert.equal(readFileSync(path, "utf8"), "one");
    for (const content of ["two", "three"]) assert.equal((await upload(content)).status, 200);
    const names = readdirSync(folder);
    assert.equal(names.length, 3);
    assert.ok(names.includes("not-ours.txt") && !names.includes(path.split("/").at(-1)!));
  });

  test("a body without a file form is refused, and so is a page of another site", async () => {
    for (const body of [new FormData(), new URLSearchParams({ file: "x" })])
      assert.ok([415, 422].includes((await fetch(`${runner.url}/files`, { method: "POST", body })).status));
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    assertRefused(await call(runner.port, "POST /files", { body: "nothing", headers }), "INVALID_REQUEST");
    assert.equal((await upload("x", "a", { origin: "https://evil.example" })).status, 403);
    assert.equal(readdirSync(folder).length, 3);
  });

  test("a session without speech ends as idle, one with speech goes on", async () => {
    using silent = await openSocket(`${runner.url.replace("http", "ws")}/ws-client`);
    using talking = await openSocket(`${runner.url.replace("http", "ws")}/ws-client`);
    const stopTalking = keepTalking(talking);
    const calls = await until(
      async () => {
        const made = (await call(runner.port, "GET /calls")).json() as { ended: unknown }[];
        return made.some(({ ended }) => ended !== null) && made;
      },
      20_000,
      "an end",
    );
    assert.deepEqual(
      calls.map(({ ended }) => ended),
      ["idle", null],
    );
    await stopTalking();
    assert.ok(silent);
  });
});

test("without a folder no uploads are taken", async () => {
  await using runner = await startRunnerProcess({ bot: BOT });
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  const answer = await call(runner.port, "POST /files", { body: "x", headers });
  assertRefused(answer, "NOT_FOUND", /--uploads-folder/);
});

interface UploadAnswer {
  name: string;
  format: string;
  source: { type: string; id: string };
}
