// Signed as the carriers sign, checked by a running runner. Signatures of the carriers' own packages are recorded beside the
// carriers.
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { after, describe, test } from "node:test";
import { oneBitMutants } from "../../testing/one-bit-mutants.ts";
import type { Answer } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { spawnRunner } from "../harness/runner-process.ts";
import { until } from "../../testing/wait.ts";
import { openCarrierSocket, tryCarrierSocket } from "./carrier-socket.ts";
import { openingOf } from "./openings.ts";
import { startPhoneRunner } from "./phone-runner.ts";
import { signed as signedBy } from "./sign.ts";

const PUBLIC = "https://bots.example.com";
const TWILIO_TOKEN = "twilio-auth-token";
const PLIVO_TOKEN = "plivo-auth-token";
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const TELNYX_KEY = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("base64");

const environment = {
  TWILIO_AUTH_TOKEN: TWILIO_TOKEN,
  PLIVO_AUTH_TOKEN: PLIVO_TOKEN,
  TELNYX_PUBLIC_KEY: TELNYX_KEY,
};

/** A webhook as its carrier would send it. */
interface Webhook {
  path: string;
  body: string;
  headers: Record<string, string>;
}

const SIGNERS: Record<"twilio" | "telnyx" | "plivo", (path: string, body: string) => Promise<Webhook>> = {
  twilio: async (path, body) => ({
    path,
    body,
    headers: await signedBy("twilio", { url: PUBLIC + path, form: body }, TWILIO_TOKEN),
  }),
  async telnyx(path, body) {
    const timestamp = String(Math.floor(Date.now() / 1000));
    return { path, body, headers: telnyxHeaders(timestamp, body) };
  },
  plivo: async (path, body) => ({
    path,
    body,
    headers: await signedBy("plivo", { url: PUBLIC + path, form: body }, PLIVO_TOKEN),
  }),
};

const BODIES = {
  twilio:
    "CallSid=CA1&AccountSid=AC1&From=%2B14158675309&To=%2B18005551212&CallerName=J%C3%BCrgen+%F0%9F%93%9E",
  telnyx: "CallControlId=v3%3Ax&From=%2B14158675309&To=%2B18005551212",
  plivo: "CallUUID=5b2a&From=14158675309&To=18005551212&Event=StartApp",
};

describe("webhooks with keys set", async () => {
  // With tokens a webhook that is taken makes a session, so that each one shows.
  const runner = await startPhoneRunner({
    flags: ["--proxy", "bots.example.com", "--ws-auth", "token"],
    environment,
  });
  after(() => runner[Symbol.asyncDispose]());
  let taken = 0;

  const post = ({ path, body, headers }: Webhook): Promise<Answer> => runner.webhook(path, body, headers);
  const sessions = async (): Promise<number> => (await runner.figures()).sessions;

  async function assertTaken(webhook: Webhook): Promise<void> {
    const { status, body } = await post(webhook);
    assert.equal(status, 200, body);
    assert.match(body, /wss:\/\/bots\.example\.com\/ws\//);
    taken += 1;
    assert.equal(await sessions(), taken);
  }

  for (const carrier of ["twilio", "telnyx", "plivo"] as const) {
    const signed = SIGNERS[carrier];
    const body = BODIES[carrier];

    test(`${carrier}: signed ones are answered, under whichever name they came`, async () => {
      await assertTaken(await signed("/", body));
      await assertTaken(await signed(`/?transport=${carrier}`, body));
      await assertTaken(await signed(`/?transport=${carrier}`, ""));
      const webhook = await signed("/", body);
      await assertTaken({ ...webhook, headers: { ...webhook.headers, host: "bots.example.com" } });
    });

    test(`${carrier}: unsigned ones are refused, however the carrier is chosen`, async () => {
      assertRefused(await post({ path: "/", body, headers: {} }), "SIGNATURE_INVALID");
      assertRefused(
        await post({ path: `/?transport=${carrier}`, body: "", headers: {} }),
        "SIGNATURE_INVALID",
      );
    });

    test(`${carrier}: one changed bit of a signature is one too many`, async () => {
      const webhook = await signed("/", body);
      for (const [header, value] of Object.entries(webhook.headers))
        for (const mutant of sendableMutants(value)) {
          const headers = { ...webhook.headers, [header]: mutant };
          assertRefused(await post({ ...webhook, headers }), "SIGNATURE_INVALID");
        }
    });

    test(`${carrier}: a changed body, another address or another's signature are refused`, async () => {
      const webhook = await signed("/", body);
      assertRefused(await post({ ...webhook, body: `${body}&Extra=1` }), "SIGNATURE_INVALID");
      assertRefused(await post({ ...webhook, body: body.replace("1415", "1416") }), "SIGNATURE_INVALID");
      for (const other of ["twilio", "telnyx", "plivo"] as const) {
        if (other === carrier) continue;
        const elsewhere = { ...webhook, path: `/?transport=${other}` };
        assertRefused(await post(elsewhere), "SIGNATURE_INVALID");
      }
      if (carrier === "telnyx") return; // signs no address
      assertRefused(await post({ ...webhook, path: `/?transport=${carrier}` }), "SIGNATURE_INVALID");
      assertRefused(await post({ ...webhook, path: "/?x" }), "SIGNATURE_INVALID");
    });
  }

  test("a name the caller claims is not the one that was signed for", async () => {
    for (const carrier of ["twilio", "plivo"] as const) {
      const { headers, ...webhook } = await SIGNERS[carrier]("/", BODIES[carrier]);
      const forwarded = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" };
      await assertTaken({
        ...webhook,
        headers: { ...headers, ...forwarded, host: `127.0.0.1:${runner.port}` },
      });
    }
  });

  test("telnyx: what is stale or from the future is refused", async () => {
    const nowS = Math.floor(Date.now() / 1000);
    for (const timestampS of [nowS - 400, nowS + 400, 0, nowS * 1000]) {
      const headers = telnyxHeaders(String(timestampS), BODIES.telnyx);
      assertRefused(await post({ path: "/", body: BODIES.telnyx, headers }), "SIGNATURE_INVALID");
    }
  });

  test("twilio: a JSON body is covered by its hash", async () => {
    const body = '{"property": "value"}';
    const path = `/?transport=twilio&bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
    const signature = await signedBy("twilio", { url: PUBLIC + path }, TWILIO_TOKEN);
    const headers = { ...signature, "content-type": "application/json" };
    await assertTaken({ path, body, headers });
    assertRefused(await post({ path, body: `${body} `, headers }), "SIGNATURE_INVALID");
  });

  test("no session and no bot came of those refused", async () => {
    assert.equal(await sessions(), taken);
    assert.deepEqual(await runner.calls(), []);
    assert.match(runner.output(), /Signatures\s+webhooks checked for Twilio, Telnyx and Plivo\n/);
    for (const secret of [TWILIO_TOKEN, PLIVO_TOKEN])
      assert.doesNotMatch(runner.output(), new RegExp(secret));
  });
});

describe("the stream of a signed carrier", async () => {
  const runner = await startPhoneRunner({
    flags: ["--proxy", "bots.example.com", "--ws-auth", "none"],
    environment,
  });
  after(() => runner[Symbol.asyncDispose]());
  const signature = (url: string): Promise<Record<string, string>> =>
    signedBy("twilio", { url }, TWILIO_TOKEN);

  test("with Twilio's signature of the public address it is taken", async () => {
    for (const url of ["wss://bots.example.com/ws", "wss://bots.example.com/ws/"]) {
      using socket = await openCarrierSocket(runner.socketUrl(), { headers: await signature(url) });
      socket.say(...openingOf("twilio", `CA-${url.length}`));
      assert.equal((await runner.record(`CA-${url.length}`)).transportType, "twilio");
    }
  });

  test("with a wrong one there is no socket", async () => {
    const url = "wss://bots.example.com/ws";
    const wrong = [
      await signature(`ws://127.0.0.1:${runner.port}/ws`),
      await signature("https://bots.example.com/ws"),
      await signature("wss://bots.example.com/ws?x=1"),
      { "x-twilio-signature": "" },
      ...sendableMutants((await signature(url))["x-twilio-signature"]!).map((mutant) => ({
        "x-twilio-signature": mutant,
      })),
    ];
    for (const headers of wrong) {
      const upgraded = await tryCarrierSocket(runner.socketUrl(), { headers });
      assert.ok(!upgraded.socket);
      assertRefused(upgraded, "SIGNATURE_INVALID");
    }
  });

  test("without one, Twilio's call is refused once it says what it is", async () => {
    using socket = await openCarrierSocket(runner.socketUrl());
    socket.say(...openingOf("twilio", "CA-unsigned"));
    const { code, reason } = await socket.closed();
    assert.equal(code, 1008);
    assert.match(reason, /no Twilio signature/);
    assert.equal(
      (await runner.calls()).some(({ callData }) => callData?.callId === "CA-unsigned"),
      false,
    );
  });

  test("a call that has a session is not taken twice", async () => {
    const headers = await signature("wss://bots.example.com/ws");
    using first = await openCarrierSocket(runner.socketUrl(), { headers });
    first.say(...openingOf("twilio", "CA-twice"));
    await runner.record("CA-twice");
    using second = await openCarrierSocket(runner.socketUrl(), { headers });
    second.say(...openingOf("twilio", "CA-twice"));
    const { code, reason } = await second.closed();
    assert.deepEqual([code, reason], [1008, "Call CA-twice has a session already"]);
    assert.equal(first.socket.readyState, first.socket.OPEN);
  });
});

test("a Telnyx key that is none stops the start", async () => {
  for (const key of ["not a key", TELNYX_KEY.slice(4)]) {
    await using runner = spawnRunner({
      bot: "e2e/telephony/phone-bot.ts",
      environment: { TELNYX_PUBLIC_KEY: key },
    });
    const exitCode = await until(() => runner.process.exitCode ?? undefined, 20_000, "end of the runner");
    assert.equal(exitCode, 2, runner.output());
    assert.match(runner.output(), /TELNYX_PUBLIC_KEY must be 32 bytes of base64/);
  }
});

function telnyxHeaders(timestamp: string, body: string): Record<string, string> {
  const signature = sign(null, Buffer.from(`${timestamp}|${body}`), privateKey).toString("base64");
  return { "telnyx-signature-ed25519": signature, "telnyx-timestamp": timestamp };
}

/** Characters that can stand in a header and are not trimmed away; one in three, each place at least once. */
function sendableMutants(value: string): string[] {
  return [...oneBitMutants(value)].filter((mutant, at) => at % 3 === 0 && /^[\x21-\x7e]+$/.test(mutant));
}
