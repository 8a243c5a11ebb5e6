import assert from "node:assert/strict";
import { carrierNames, type CarrierName } from "@vocalhost/protocol";
import { after, describe, test } from "node:test";
import { call } from "../harness/raw-http.ts";
import { assertRefused } from "../harness/refusal.ts";
import { openCarrierSocket, tryCarrierSocket } from "./carrier-socket.ts";
import { openingOf } from "./openings.ts";
import { startPhoneRunner } from "./phone-runner.ts";
import { onlyChild, readXml } from "../../testing/read-xml.ts";

const FORMS: Record<Exclude<CarrierName, "exotel">, Record<string, string>> = {
  twilio: {
    CallSid: "CA1",
    AccountSid: "AC1",
    From: "+14158675309",
    To: "+18005551212",
    CallStatus: "ringing",
  },
  telnyx: { CallControlId: "v3:x", From: "+14158675309", To: "+18005551212" },
  plivo: { CallUUID: "5b2a", From: "14158675309", To: "18005551212", Event: "StartApp" },
};
const SIGNATURE_HEADERS: Record<Exclude<CarrierName, "exotel">, string> = {
  twilio: "x-twilio-signature",
  telnyx: "telnyx-signature-ed25519",
  plivo: "x-plivo-signature-v3",
};
const CARRIERS_WITH_XML = ["twilio", "telnyx", "plivo"] as const;

describe("without -t", async () => {
  const runner = await startPhoneRunner({ flags: ["--proxy", "bots.example.com", "--ws-auth", "none"] });
  after(() => runner[Symbol.asyncDispose]());

  for (const carrier of CARRIERS_WITH_XML) {
    test(`${carrier} is known by its fields`, async () => {
      assert.equal(carrierOf(await runner.webhook("/", FORMS[carrier])), carrier);
    });
    test(`${carrier} is known by its signature's header`, async () => {
      assert.equal(carrierOf(await runner.webhook("/", {}, { [SIGNATURE_HEADERS[carrier]]: "x" })), carrier);
    });
    test(`${carrier} can be asked for`, async () => {
      const others = CARRIERS_WITH_XML.filter((name) => name !== carrier);
      for (const other of others)
        assert.equal(carrierOf(await runner.webhook(`/?transport=${carrier}`, FORMS[other])), carrier);
    });
  }

  test("telnyx is known by its call's id, where the fields have Twilio's names", async () => {
    const fields = { ...FORMS.twilio, CallSid: "v3:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ" };
    assert.equal(carrierOf(await runner.webhook("/", fields)), "telnyx");
  });

  test("Exotel, when asked for, gets its address in JSON", async () => {
    const answer = await runner.webhook("/?transport=exotel");
    assert.equal(answer.status, 200);
    assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
    const { url, websocket_url, error, note } = answer.json();
    assert.equal(url, "wss://bots.example.com/ws");
    assert.equal(websocket_url, url);
    assert.equal(error, "Exotel doesn't use POST webhooks");
    assert.match(note, /Voicebot applet/);
  });

  test("a request without a recognisable carrier is refused, with the remedy", async () => {
    const unknown: [string, Record<string, string>, Record<string, string>][] = [
      ["/", {}, {}],
      ["/", { CallSid: "CA1" }, {}],
      ["/", { AccountSid: "AC1" }, {}],
      ["/", { From: "+1" }, {}],
      ["/?transport=", FORMS.twilio, {}],
      ["/?transport=vonage", FORMS.twilio, {}],
      ["/?transport=webrtc", FORMS.twilio, {}],
      ["/?transport=Twilio", FORMS.twilio, {}],
      ["/?transport=twilio&transport=plivo", FORMS.twilio, {}],
      ["/", FORMS.twilio, { "content-type": "text/plain" }],
    ];
    for (const [path, fields, headers] of unknown)
      assertRefused(
        await runner.webhook(path, fields, headers),
        "CARRIER_UNKNOWN",
        "This request does not look like a known carrier's webhook. Add ?transport=twilio|telnyx|plivo|exotel to its address.",
      );
  });

  test("the answers are what each carrier's parser wants", async () => {
    const twilio = readXml((await runner.webhook("/", FORMS.twilio)).body);
    const stream = onlyChild(onlyChild(twilio, "Connect"), "Stream");
    assert.deepEqual(stream.attributes, { url: "wss://bots.example.com/ws" });
    assert.deepEqual(
      stream.children.map(({ attributes }) => attributes),
      [
        { name: "from_number", value: "+14158675309" },
        { name: "to_number", value: "+18005551212" },
      ],
    );
    const telnyx = onlyChild(
      onlyChild(readXml((await runner.webhook("/", FORMS.telnyx)).body), "Connect"),
      "Stream",
    );
    assert.deepEqual(telnyx.attributes, { url: "wss://bots.example.com/ws", bidirectionalMode: "rtp" });
    const plivo = onlyChild(readXml((await runner.webhook("/", FORMS.plivo)).body), "Stream");
    assert.equal(plivo.text, "wss://bots.example.com/ws");
    assert.deepEqual(plivo.attributes, {
      bidirectional: "true",
      keepCallAlive: "true",
      contentType: "audio/x-mulaw;rate=8000",
      extraHeaders: "from=14158675309,to=18005551212",
    });
  });

  test("what callers are called cannot change the answer", async () => {
    const hostile = [
      `"/><Redirect>https://evil.example/</Redirect><x y="`,
      `</Stream></Connect><Dial>+1900</Dial>`,
      `]]>&#60;&lt;<!--`,
      "\u0000\u0008\ufffe\ud83d",
      "sip:alice@example.com;x=<y>",
      "Jürgen 📞",
      "A".repeat(20_000),
    ];
    for (const value of hostile) {
      const fields = { ...FORMS.twilio, From: value, To: value };
      const stream = onlyChild(
        onlyChild(readXml((await runner.webhook("/", fields)).body), "Connect"),
        "Stream",
      );
      assert.deepEqual(Object.keys(stream.attributes), ["url"]);
      assert.ok(stream.children.every(({ name, children }) => name === "Parameter" && children.length === 0));
      const plivo = await runner.webhook("/", { ...FORMS.plivo, From: value, To: value });
      const { text, children, attributes } = onlyChild(readXml(plivo.body), "Stream");
      assert.deepEqual([text, children], ["wss://bots.example.com/ws", []]);
      assert.match(attributes["extraHeaders"] ?? "", /^[A-Za-z0-9=,]*$/);
    }
  });

  test("pages of others cannot ask", async () => {
    for (const origin of [
      "https://evil.example",
      "null",
      "http://localhost:1",
      "http://bots.example.com.evil.example",
    ])
      assertRefused(await runner.webhook("/", FORMS.twilio, { origin }), "ORIGIN_NOT_ALLOWED");
    assertRefused(await runner.webhook("/", FORMS.twilio, { host: "evil.example" }), "HOST_NOT_ALLOWED");
    assert.equal((await runner.webhook("/", FORMS.twilio, { host: "bots.example.com" })).status, 200);
  });

  test("bodies that are too large or packed are refused", async () => {
    assertRefused(await runner.webhook("/", `From=${"1".repeat(70_000)}`), "PAYLOAD_TOO_LARGE");
    const packed = await runner.webhook("/", FORMS.twilio, { "content-encoding": "gzip" });
    assertRefused(packed, "UNSUPPORTED_MEDIA_TYPE");
  });

  test("odd bodies are read as far as they go", async () => {
    for (const body of ["", "%", "&&&=", "CallUUID", "a=%ff%fe&CallUUID=1", "CallUUID=1&CallUUID=2"]) {
      const { status } = await runner.webhook("/", body);
      assert.equal(status, body.includes("CallUUID") ? 200 : 400, body);
    }
  });

  test("nothing was started by all that", async () => {
    assert.deepEqual(await runner.calls(), []);
    assert.equal((await runner.figures()).sessions, 0);
  });

  test("the banner says where carriers call, and that signatures are not checked", async () => {
    const output = runner.output();
    assert.match(
      output,
      /Phone calls\s+webhook https:\/\/bots\.example\.com\/, stream wss:\/\/bots\.example\.com\/ws\n/,
    );
    assert.match(
      output,
      /Signatures\s+not checked, no key set: Twilio \(TWILIO_AUTH_TOKEN\), Telnyx \(TELNYX_PUBLIC_KEY\), Plivo \(PLIVO_AUTH_TOKEN\)\n/,
    );
  });
});

describe("without --proxy", async () => {
  const runner = await startPhoneRunner();
  after(() => runner[Symbol.asyncDispose]());

  test("the stream's address follows the name and the scheme the carrier used", async () => {
    const urlBy = async (headers: Record<string, string>): Promise<string | undefined> =>
      onlyChild(readXml((await runner.webhook("/?transport=plivo", {}, headers)).body), "Stream").text;
    assert.equal(await urlBy({}), `ws://localhost:${runner.port}/ws`);
    assert.equal(await urlBy({ host: "127.0.0.1", "x-forwarded-proto": "https" }), "wss://127.0.0.1/ws");
  });

  test("each carrier's call is taken at /ws, and a subprotocol it offers is echoed", async () => {
    for (const carrier of carrierNames) {
      using socket = await openCarrierSocket(runner.socketUrl(), {});
      socket.say(...openingOf(carrier, `call-${carrier}`));
      assert.equal((await runner.record(`call-${carrier}`)).transportType, carrier);
    }
    const { WebSocket } = await import("ws");
    const socket = new WebSocket(runner.socketUrl(), ["audio.drachtio.org", "other"]);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    assert.equal(socket.protocol, "audio.drachtio.org");
    socket.terminate();
  });

  test("a page of others cannot open the carriers' socket", async () => {
    const upgraded = await tryCarrierSocket(runner.socketUrl(), { origin: "https://evil.example" });
    assert.equal(upgraded.status, 403);
  });
});

describe("with -t", async () => {
  const [twilio, exotel, websocket] = await Promise.all([
    startPhoneRunner({ flags: ["-t", "twilio", "--proxy", "bots.example.com", "--ws-auth", "none"] }),
    startPhoneRunner({ flags: ["-t", "exotel", "--proxy", "bots.example.com"] }),
    startPhoneRunner({ flags: ["-t", "websocket"] }),
  ]);
  after(() => Promise.all([twilio, exotel, websocket].map((runner) => runner[Symbol.asyncDispose]())));

  test("its carrier is meant, whatever the webhook looks like", async () => {
    for (const fields of [{}, FORMS.plivo, FORMS.telnyx, FORMS.twilio])
      assert.equal(carrierOf(await twilio.webhook("/", fields)), "twilio");
    assert.equal((await exotel.webhook("/", FORMS.twilio)).json().url, "wss://bots.example.com/ws");
  });

  test("another one cannot be asked for", async () => {
    for (const other of ["telnyx", "plivo", "exotel"])
      assertRefused(
        await twilio.webhook(`/?transport=${other}`, FORMS.plivo),
        "TRANSPORT_NOT_ALLOWED",
        `Transport '${other}' is not allowed. Server is configured for 'twilio' only (-t twilio).`,
      );
  });

  test("another carrier's call is refused with the reason", async () => {
    using socket = await openCarrierSocket(twilio.socketUrl());
    socket.say(...openingOf("telnyx", "v3:x"));
    const { code, reason } = await socket.closed();
    assert.equal(code, 1008);
    assert.equal(reason, "The first messages are not those of a twilio call (-t twilio)");
    await twilio.printed(/call refused/);
    assert.deepEqual(await twilio.calls(), []);
  });

  test("without telephony there is neither webhook nor socket", async () => {
    assertRefused(await call(websocket.port, "POST /"), "NOT_FOUND");
    assert.equal((await tryCarrierSocket(websocket.socketUrl())).status, 404);
    assert.doesNotMatch(websocket.output(), /Phone calls|Signatures/);
  });
});

describe("with --ws-auth token", async () => {
  const runner = await startPhoneRunner({ flags: ["--ws-auth", "token"] });
  after(() => runner[Symbol.asyncDispose]());

  async function newPath(carrier: "twilio" | "plivo"): Promise<string> {
    const { body } = await runner.webhook(`/?transport=${carrier}`);
    const root = readXml(body);
    const url =
      carrier === "plivo"
        ? onlyChild(root, "Stream").text
        : onlyChild(onlyChild(root, "Connect"), "Stream").attributes["url"];
    return new URL(url ?? "").pathname;
  }

  test("the answer's address carries a token, and it opens one socket", async () => {
    const path = await newPath("twilio");
    assert.match(path, /^\/ws\/[A-Za-z0-9_-]+\.[0-9a-f]{64}$/);
    using socket = await openCarrierSocket(runner.socketUrl(path));
    socket.say(...openingOf("twilio", "CA-token"));
    assert.equal((await runner.record("CA-token")).transportType, "twilio");
    assertRefused(refusal(await tryCarrierSocket(runner.socketUrl(path))), "TOKEN_INVALID");
  });

  test("of fifty who come with one token, one gets in", async () => {
    const path = await newPath("twilio");
    const upgrades = await Promise.all(
      Array.from({ length: 50 }, () => tryCarrierSocket(runner.socketUrl(path))),
    );
    assert.deepEqual(
      upgrades.map(({ status }) => status).sort((left, right) => left - right),
      [101, ...Array.from({ length: 49 }, () => 403)],
    );
    for (const { socket } of upgrades) socket?.socket.terminate();
  });

  test("no token, a made-up one, one for clients: no socket", async () => {
    const { token } = (await call(runner.port, "POST /start", { body: { transport: "websocket" } })).json();
    const forged = `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`;
    const paths = [
      "/ws",
      "/ws/",
      "/ws/x",
      "/ws/a.b",
      "/ws/a/b",
      "/ws?token=x",
      "/ws?token=a&token=b",
      `/ws/${forged}`,
    ];
    for (const path of paths)
      assertRefused(refusal(await tryCarrierSocket(runner.socketUrl(path))), "TOKEN_INVALID");
    assertRefused(refusal(await tryCarrierSocket(runner.socketUrl(`/ws/${token}`))), "SESSION_NOT_FOUND");
  });

  test("a carrier's token is not one for clients", async () => {
    const headers = { authorization: `Bearer ${(await newPath("plivo")).slice("/ws/".length)}` };
    const upgraded = await tryCarrierSocket(runner.socketUrl("/ws-client"), { headers });
    assertRefused(refusal(upgraded), "SESSION_NOT_FOUND");
  });

  test("a token is for the carrier whose webhook it answered", async () => {
    using socket = await openCarrierSocket(runner.socketUrl(await newPath("twilio")));
    socket.say(...openingOf("plivo", "call-other"));
    assert.equal((await socket.closed()).code, 1008);
    assert.equal(
      (await runner.calls()).some(({ callData }) => callData?.callId === "call-other"),
      false,
    );
  });

  test("a start request gives the token beside the address, and its body reaches the bot", async () => {
    const answer = await call(runner.port, "POST /start", {
      body: { transport: "telnyx", body: { order: 7 } },
    });
    const { wsUrl, token, ...rest } = answer.json();
    assert.deepEqual(rest, {});
    assert.equal(new URL(wsUrl).pathname, "/ws");
    using socket = await openCarrierSocket(runner.socketUrl(), {
      headers: { authorization: `Bearer ${token}` },
    });
    socket.say(...openingOf("telnyx", "v3:ordered"));
    assert.deepEqual((await runner.record("v3:ordered")).body, { order: 7 });
  });

  test("refused webhooks leave no session behind", async () => {
    const before = (await runner.figures()).sessions;
    for (let attempts = 0; attempts < 20; attempts += 1) {
      await runner.webhook("/", { From: "+1" });
      await runner.webhook("/", FORMS.twilio, { origin: "https://evil.example" });
    }
    assert.ok((await runner.figures()).sessions <= before);
  });
});

function carrierOf({
  status,
  headers,
  body,
}: {
  status: number;
  headers: Record<string, string>;
  body: string;
}): CarrierName {
  assert.equal(status, 200, body);
  assert.match(headers["content-type"] ?? "", /^application\/xml/);
  const root = readXml(body);
  if (root.children[0]?.name === "Stream") return "plivo";
  const { attributes } = onlyChild(onlyChild(root, "Connect"), "Stream");
  return attributes["bidirectionalMode"] === "rtp" ? "telnyx" : "twilio";
}

function refusal(upgraded: Awaited<ReturnType<typeof tryCarrierSocket>>): { status: number; body: string } {
  assert.ok(upgraded.socket === undefined, "the socket was opened");
  return upgraded;
}
