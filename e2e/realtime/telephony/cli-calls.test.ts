// `vocalhost call` as a process of its own, through the webhook, signed as carriers sign.
import assert from "node:assert/strict";
import { parseWav } from "@vocalhost/audio";
import { createSpeechLike, type CallSummary } from "@vocalhost/simulator";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { runProgram } from "../../harness/program.ts";
import { startPhoneRunner } from "../../telephony/phone-runner.ts";
import { shareHeard } from "../../telephony/sound.ts";
import { commandLine } from "../../../testing/programs.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const environment = {
  TWILIO_AUTH_TOKEN: "twilio-token",
  PLIVO_AUTH_TOKEN: "plivo-token",
  TELNYX_PUBLIC_KEY: Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("base64"),
};
const SECRETS = {
  twilio: "twilio-token",
  telnyx: Buffer.from(privateKey.export({ format: "jwk" }).d ?? "", "base64url").toString("base64"),
  plivo: "plivo-token",
};
const CARRIERS = ["twilio", "telnyx", "plivo"] as const;
const SPEECH = createSpeechLike();

interface Answer {
  ok: boolean;
  summary?: CallSummary;
  problem?: { code: string; message: string };
  code?: string;
}

describe("vocalhost call", async () => {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-calls-"));
  const [local, named] = await Promise.all([
    startPhoneRunner({ flags: ["--ws-auth", "token"], environment }),
    startPhoneRunner({ flags: ["--proxy", "bots.example.com", "--ws-auth", "none"], environment }),
  ]);
  after(async () => {
    await Promise.all([local[Symbol.asyncDispose](), named[Symbol.asyncDispose]()]);
    rmSync(folder, { recursive: true });
  });

  async function vocalhostCall(
    ...args: string[]
  ): Promise<{ code: number | null; answer: Answer; output: string }> {
    const { code, output, errors } = await runProgram(commandLine, {
      args: ["call", "--json", "--strict", "--expect-audio", "--hang-up-after-silence", "2s", ...args],
      workingFolder: folder,
      timeoutMs: 90_000,
    });
    const line = output.trim().split("\n").at(-1) ?? "";
    assert.ok(line.startsWith("{"), `${output}\n${errors}`);
    return { code, answer: JSON.parse(line) as Answer, output: output + errors };
  }

  for (const carrier of CARRIERS)
    test(`${carrier}: webhook, token, call, recording`, async () => {
      const file = join(folder, `${carrier}.wav`);
      const { code, answer, output } = await vocalhostCall(
        ...["-c", carrier, "--webhook", `${local.url}/`, "--signing-secret", SECRETS[carrier], "-r", file],
        ...["--from", "+14158675309", "--to-number", "+18005551212"],
      );
      assert.equal(code, 0, output);
      assert.equal(answer.ok, true);
      assert.deepEqual(answer.summary?.violations, []);
      assert.ok(shareHeard(SPEECH, parseWav(readFileSync(file))) >= 0.6, "the recording holds what was said");
      const { callData, ended } = (await local.calls()).at(-1)!;
      assert.equal(ended, "client-left");
      const numbers = carrier === "plivo" ? ["14158675309", "18005551212"] : ["+14158675309", "+18005551212"];
      assert.deepEqual([callData?.from, callData?.to], numbers);
    });

  for (const carrier of CARRIERS)
    test(`${carrier}: with another secret no bot answers`, async () => {
      const before = (await local.calls()).length;
      const other = carrier === "telnyx" ? Buffer.alloc(32, 7).toString("base64") : "another";
      const { code, output } = await vocalhostCall(
        ...["-c", carrier, "--webhook", `${local.url}/`, "--signing-secret", other],
      );
      assert.equal(code, 1, output);
      assert.match(output, /403|signature/i);
      assert.equal((await local.calls()).length, before);
    });

  test("a runner behind a public name: signed for that name, reached here", async () => {
    const { code, answer, output } = await vocalhostCall(
      ...["-c", "twilio", "--webhook", `${named.url}/`, "--public-url", "https://bots.example.com/"],
      ...["--to", named.url.replace("http", "ws"), "--signing-secret", SECRETS.twilio],
    );
    assert.equal(code, 0, output);
    assert.equal(answer.ok, true);
  });

  test("without the webhook: its token is needed, then its signature is not", async () => {
    const refused = await vocalhostCall(
      "-c",
      "twilio",
      "--to",
      local.socketUrl(),
      "--signing-secret",
      "another",
    );
    assert.equal(refused.code, 1, refused.output);
    assert.match(refused.output, /token/i);
  });

  test("a bad line is still a call", async () => {
    const { code, answer, output } = await vocalhostCall(
      ...["-c", "telnyx", "--encoding", "PCMA", "--jitter", "30ms", "--loss", "2%"],
      ...["--webhook", `${local.url}/`, "--signing-secret", SECRETS.telnyx],
    );
    assert.equal(code, 0, output);
    assert.ok((answer.summary?.said.lostChunks ?? 0) > 0);
  });
});
