import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import { createSigner } from "./signer.ts";
import { parseEd25519Key, publicHalf, signPlivo, signTelnyx, signTwilio } from "./signatures.ts";

test("Twilio's published examples", () => {
  const fields = {
    CallSid: "CA1234567890ABCDE",
    Caller: "+14158675309",
    Digits: "1234",
    From: "+14158675309",
    To: "+18005551212",
  };
  const url = "https://example.com/voice?foo=1&bar=2";
  assert.equal(signTwilio("12345", url, fields), "BqsECoDNZ3GnqUCp/TOmlCQpQ5U=");
  const reordered = Object.fromEntries(Object.entries(fields).reverse());
  assert.equal(signTwilio("12345", url, reordered), "BqsECoDNZ3GnqUCp/TOmlCQpQ5U=");
  assert.equal(signTwilio("12345", "wss://example.com/ws"), "HXrgvHt0qTHu33oSxSjpOvWtO60=");
});

test("Plivo's published examples", () => {
  const table: [string, Record<string, string>, string][] = [
    [
      "https://example.com/answer",
      { CallUUID: "97ceeb52-58b6-11e1-86da-77300b68f8bb", From: "14158675309", To: "18005551212" },
      "EjWyOg1JJK4dae/7dmPGqE03ihgIAE5UXEhFmBeoRk0=",
    ],
    [
      "https://example.com/answer?b=2&a=1",
      { From: "1", To: "2" },
      "QRJDrKPk1aQE8vUk8WVYHqoprqJqWss1yrlmjWMuPRg=",
    ],
    ["https://example.com/answer", {}, "0yCSTcpk0g5MyH+eKhYi02RUlMZ/VPnJKABuBXoajUc="],
  ];
  for (const [url, fields, signature] of table)
    assert.equal(signPlivo("my_auth_token", { url, fields, nonce: "12345" }), signature, url);
});

test("Telnyx's published example, with the key in every form", () => {
  const seed = Buffer.alloc(32, 1);
  const publicKey = "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=";
  const key = parseEd25519Key(seed.toString("base64"));
  const forms = [
    seed.toString("base64"),
    Buffer.concat([seed, Buffer.from(publicKey, "base64")]).toString("base64"),
    key.export({ format: "pem", type: "pkcs8" }).toString(),
  ];
  for (const form of forms) {
    assert.equal(publicHalf(parseEd25519Key(form)), publicKey);
    assert.equal(
      signTelnyx(parseEd25519Key(form), "1700000000", '{"data":{"event_type":"call.initiated"}}'),
      "N3GXTQa96IbJU4pT+oAfpCzaUM2A3p13ncb8xLGBRAU1bkNfCqcRiqcnvbLoOJxH7XxTe1haqhp7vCqfBuLAAA==",
    );
  }
  assert.throws(() => parseEd25519Key("c2hvcnQ="), /32 bytes/);
});

test("without a secret a random one signs, as a carrier always signs", () => {
  const request = { url: "https://example.com/", fields: { From: "+1" }, body: "From=%2B1" };
  const names = {
    twilio: ["x-twilio-signature"],
    plivo: ["x-plivo-signature-v3", "x-plivo-signature-v3-nonce"],
    telnyx: ["telnyx-timestamp", "telnyx-signature-ed25519"],
    exotel: [],
  } as const;
  for (const carrier of ["twilio", "plivo", "telnyx", "exotel"] as const) {
    const signer = createSigner(carrier, undefined);
    assert.ok(signer.isThrowaway);
    assert.deepEqual(Object.keys(signer.webhookHeaders(request)), names[carrier]);
  }
  assert.deepEqual(Object.keys(createSigner("twilio", "x").upgradeHeaders("wss://example.com/ws")), [
    "x-twilio-signature",
  ]);
  assert.deepEqual(createSigner("plivo", "x").upgradeHeaders("wss://example.com/ws"), {});
});

test("the throwaway key of Telnyx says what it is checked with", () => {
  const signer = createSigner("telnyx", undefined);
  const headers = signer.webhookHeaders({ url: "", fields: {}, body: "a=b" });
  const publicKey = signer.counterpart.replace("TELNYX_PUBLIC_KEY=", "");
  const der = Buffer.concat([
    Buffer.from("302a300506032b6570032100", "hex"),
    Buffer.from(publicKey, "base64"),
  ]);
  assert.ok(
    verify(
      null,
      Buffer.from(`${headers["telnyx-timestamp"]}|a=b`),
      createPublicKey({ key: der, format: "der", type: "spki" }),
      Buffer.from(headers["telnyx-signature-ed25519"] ?? "", "base64"),
    ),
  );
});
