import assert from "node:assert/strict";
import { createPrivateKey, sign } from "node:crypto";
import { test } from "node:test";
import { oneBitMutants } from "../../../testing/one-bit-mutants.ts";
import type { SignedRequest } from "./signing.ts";
import { checkSignature, type SignatureVerdict } from "./carriers.ts";
import { signTelnyx, telnyx } from "./telnyx.ts";

const PUBLIC_KEY = "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=";
const TIMESTAMP_S = 1_700_000_000;
const SIGNATURE = "N3GXTQa96IbJU4pT+oAfpCzaUM2A3p13ncb8xLGBRAU1bkNfCqcRiqcnvbLoOJxH7XxTe1haqhp7vCqfBuLAAA==";
const BODY = '{"data":{"event_type":"call.initiated"}}';

test("the known signature fits", async () => {
  assert.equal(await verdict({}), "valid");
});

test("one changed bit anywhere is noticed", async () => {
  for (const signature of oneBitMutants(SIGNATURE))
    assert.equal(await verdict({ signature }), "invalid", signature);
  for (const timestamp of oneBitMutants(String(TIMESTAMP_S)))
    assert.equal(await verdict({ timestamp }), "invalid", timestamp);
  for (const rawBody of oneBitMutants(BODY)) assert.equal(await verdict({ rawBody }), "invalid", rawBody);
  for (const key of oneBitMutants(PUBLIC_KEY)) {
    const bytes = Buffer.from(key, "base64");
    const isSame = bytes.equals(Buffer.from(PUBLIC_KEY, "base64")); // base64 does not use every bit
    if (bytes.length === 32 && !isSame) assert.equal(await verdict({ key }), "invalid", key);
  }
});

test("signatures that are none do not pass", async () => {
  const url = Buffer.from(SIGNATURE, "base64").toString("base64url");
  const others = [
    "",
    undefined,
    "AAAA",
    SIGNATURE.slice(0, -2),
    `${SIGNATURE}AAAA`,
    ` ${SIGNATURE}`,
    `${SIGNATURE}\n`,
    url,
  ];
  for (const signature of others) assert.equal(await verdict({ signature }), "invalid", signature);
  assert.equal(await verdict({ signature: [SIGNATURE, SIGNATURE] }), "invalid");
});

test("timestamps more than five minutes off are refused, old and new", async () => {
  const at = (offsetS: number): Promise<SignatureVerdict> =>
    verdict({ nowMs: (TIMESTAMP_S + offsetS) * 1000 });
  for (const offsetS of [0, 299, 300, -299, -300]) assert.equal(await at(offsetS), "valid", `${offsetS}`);
  for (const offsetS of [301, 3600, -301, -3600, 1e9, -1.7e9])
    assert.equal(await at(offsetS), "invalid", `${offsetS}`);
});

test("timestamps that are no plain seconds are refused, though signed", async () => {
  for (const timestamp of [
    "",
    " 1700000000",
    "1700000000.0",
    "0x6553F100",
    "+1700000000",
    "1.7e9",
    "1700000000\n",
    "NaN",
  ])
    assert.equal(await verdict({ timestamp, signature: signed(timestamp, BODY) }), "invalid", timestamp);
  assert.equal(
    await verdict({ signature: signed(String(TIMESTAMP_S), BODY) }),
    "valid",
    "the test signs as Telnyx does",
  );
});

test("a body of any script is covered byte by byte", async () => {
  const rawBody = '{"name":"Jürgen 📞"}';
  const signature = signed(String(TIMESTAMP_S), rawBody);
  assert.equal(await verdict({ rawBody, signature }), "valid");
  assert.equal(await verdict({ rawBody: rawBody.normalize("NFD"), signature }), "invalid");
  assert.equal(await verdict({ rawBody: "", signature: signed(String(TIMESTAMP_S), "") }), "valid");
});

test("without a key there is nothing to check with; a mistyped one is named", async () => {
  assert.equal(await verdict({ key: "" }), "off");
  for (const key of ["AAAA", "not base64 at all!", PUBLIC_KEY.slice(4)])
    assert.throws(() => telnyx.signature?.checkKey?.(key), /TELNYX_PUBLIC_KEY must be 32 bytes/);
});

test("the private key is taken in every form", async () => {
  const seed = Buffer.alloc(32, 1);
  const forms = [
    seed.toString("base64"),
    Buffer.concat([seed, Buffer.from(PUBLIC_KEY, "base64")]).toString("base64"),
    PRIVATE_KEY.export({ format: "pem", type: "pkcs8" }).toString(),
  ];
  for (const form of forms) {
    assert.equal(await telnyx.signature?.counterpart?.(form), `TELNYX_PUBLIC_KEY=${PUBLIC_KEY}`);
    assert.equal(await signTelnyx(BODY, String(TIMESTAMP_S), form), SIGNATURE);
  }
  await assert.rejects(signTelnyx(BODY, String(TIMESTAMP_S), "c2hvcnQ="), /32 bytes/);
});

interface Parts {
  signature?: string | string[] | undefined;
  timestamp?: string;
  rawBody?: string;
  nowMs?: number;
  key?: string;
}

function verdict(parts: Parts): Promise<SignatureVerdict> {
  const request: SignedRequest = {
    method: "POST",
    url: "https://example.com/",
    headers: {
      "telnyx-signature-ed25519": "signature" in parts ? parts.signature : SIGNATURE,
      "telnyx-timestamp": parts.timestamp ?? String(TIMESTAMP_S),
    },
    rawBody: parts.rawBody ?? BODY,
    nowMs: parts.nowMs ?? TIMESTAMP_S * 1000,
  };
  return checkSignature("telnyx", request, parts.key ?? PUBLIC_KEY);
}

// The private key of the known signature: a seed of ones in PKCS #8.
const PRIVATE_KEY = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, 1)]),
  format: "der",
  type: "pkcs8",
});

function signed(timestamp: string, body: string): string {
  return sign(null, Buffer.from(`${timestamp}|${body}`, "utf8"), PRIVATE_KEY).toString("base64");
}
