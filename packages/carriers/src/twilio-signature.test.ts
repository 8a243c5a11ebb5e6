import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { oneBitMutants } from "../../../testing/one-bit-mutants.ts";
import type { SignedRequest } from "./signing.ts";
import { checkSignature, type SignatureVerdict } from "./carriers.ts";
import { twilio } from "./twilio.ts";

const TOKEN = "12345";
const FORM = "application/x-www-form-urlencoded";
const BODY_HASH = "0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620";

const WEBHOOK = request({
  url: "https://example.com/voice?foo=1&bar=2",
  type: FORM,
  rawBody:
    "To=%2B18005551212&CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309",
  signature: "BqsECoDNZ3GnqUCp/TOmlCQpQ5U=",
});
const UPGRADE = request({
  method: "GET",
  url: "wss://example.com/ws",
  signature: "HXrgvHt0qTHu33oSxSjpOvWtO60=",
});
const JSON_HOOK = request({
  url: `https://example.com/hook?bodySHA256=${BODY_HASH}`,
  type: "application/json",
  rawBody: '{"property": "value", "boolean": true}',
  signature: "8zP4BSOTLR1x1Op1u6j899rpPJU=",
});

test("the known signatures of a form, an upgrade and a JSON body fit", async () => {
  for (const known of [WEBHOOK, UPGRADE, JSON_HOOK]) assert.equal(await verdict(known), "valid", known.url);
  assert.equal(await signTwilio(WEBHOOK.url, WEBHOOK.rawBody, TOKEN), WEBHOOK.headers["x-twilio-signature"]);
  assert.equal(await signTwilio(UPGRADE.url, "", TOKEN), UPGRADE.headers["x-twilio-signature"]);
});

test("one changed bit anywhere in the signature is noticed", async () => {
  for (const known of [WEBHOOK, UPGRADE, JSON_HOOK])
    for (const mutant of oneBitMutants(String(known.headers["x-twilio-signature"])))
      assert.equal(
        await verdict({ ...known, headers: { ...known.headers, "x-twilio-signature": mutant } }),
        "invalid",
      );
});

test("one changed bit anywhere in the body is noticed, unless it means the same", async () => {
  for (const known of [WEBHOOK, JSON_HOOK])
    for (const rawBody of oneBitMutants(known.rawBody)) {
      const means = (body: string): string => new URLSearchParams(body).toString();
      if (known === WEBHOOK && means(rawBody) === means(known.rawBody)) continue; // %2B and %2b
      assert.equal(await verdict({ ...known, rawBody }), "invalid", rawBody);
    }
});

test("one changed bit anywhere in the address is noticed", async () => {
  for (const known of [WEBHOOK, UPGRADE, JSON_HOOK])
    for (const url of oneBitMutants(known.url)) {
      if (!URL.canParse(url)) continue; // ours is made of a configured host, so it always can be
      const same = new URL(url).href === new URL(known.url).href; // upper case in scheme or host
      if (!same) assert.equal(await verdict({ ...known, url }), "invalid", url);
    }
});

test("missing, empty, doubled or foreign signatures do not pass", async () => {
  const given = WEBHOOK.headers["x-twilio-signature"] as string;
  const others = [
    undefined,
    "",
    " ",
    given.slice(0, -1),
    `${given} `,
    `${given}=`,
    [given, given],
    given.toLowerCase(),
  ];
  for (const other of others)
    assert.equal(
      await verdict({ ...WEBHOOK, headers: { ...WEBHOOK.headers, "x-twilio-signature": other } }),
      "invalid",
    );
  assert.equal(await checkSignature("twilio", WEBHOOK, "12346"), "invalid");
});

test("without a token there is nothing to check with", async () => {
  for (const none of [undefined, ""]) {
    assert.equal(await checkSignature("twilio", WEBHOOK, none), "off");
    assert.equal(await checkSignature("twilio", { ...WEBHOOK, headers: {} }, none), "off");
  }
});

test("the port may be in the signed address or not", async () => {
  const url = "https://example.com/voice";
  for (const signed of [url, "https://example.com:443/voice"]) await checkSigned({ url, signed }, "valid");
  for (const signed of ["https://example.com:8443/voice", url])
    await checkSigned({ url: "https://example.com:8443/voice", signed }, "valid");
  for (const signed of ["http://example.com:80/voice", "http://example.com/voice"])
    await checkSigned({ url: "http://example.com/voice", signed }, "valid");
  await checkSigned({ url, signed: "https://example.com:8443/voice" }, "invalid");
  await checkSigned({ url, signed: "http://example.com/voice" }, "invalid");
});

test("an upgrade's address may end in a slash or not, a webhook's not", async () => {
  await checkSigned({ url: "wss://example.com/ws", signed: "wss://example.com/ws/" }, "valid");
  await checkSigned({ url: "wss://example.com/ws", signed: "wss://example.com:443/ws" }, "valid");
  await checkSigned({ url: "https://example.com/ws", signed: "https://example.com/ws/" }, "invalid");
  await checkSigned({ url: "ws://example.com/ws", signed: "wss://example.com/ws" }, "valid"); // behind a proxy
  await checkSigned({ url: "wss://example.com/ws", signed: "ws://example.com/ws" }, "invalid");
});

test("an address without a path may have been written without its slash", async () => {
  await checkSigned({ url: "https://example.com/", signed: "https://example.com" }, "valid");
  await checkSigned({ url: "https://example.com/?a=1", signed: "https://example.com?a=1" }, "valid");
  await checkSigned({ url: "https://example.com/a/", signed: "https://example.com/a" }, "invalid");
});

test("an address that was escaped on its way fits", async () => {
  const url = "https://example.com/?who=O'Brien|x";
  await checkSigned({ url, signed: url }, "valid");
  await checkSigned({ url, signed: new URL(url).href }, "valid");
  assert.notEqual(url, new URL(url).href);
});

test("repeated fields count once, in order; names and values may be of any script", async () => {
  const form = (text: string): SignedRequest => request({ url: "https://x/", type: FORM, rawBody: text });
  const sign = (text: string): Promise<string | undefined> => signTwilio("https://x/", text, TOKEN);
  assert.equal(await sign("a=2&a=1&a=2"), hmac("https://x/a1a2"));
  assert.equal(await sign("b=1&a=2&B=3"), hmac("https://x/B3a2b1"));
  assert.equal(await sign("name=J%C3%BCrgen+%F0%9F%93%9E"), hmac("https://x/nameJürgen 📞"));
  for (const text of ["a=2&a=1&a=2", "name=J%C3%BCrgen+%F0%9F%93%9E", "=", "a", "%", ""]) {
    const signed = form(text);
    signed.headers["x-twilio-signature"] = await sign(text);
    assert.equal(await verdict(signed), "valid", text);
  }
});

test("fields count only when the body is a form", async () => {
  const { headers } = WEBHOOK;
  for (const type of ["text/plain", "application/json", undefined, "multipart/form-data"])
    assert.equal(await verdict({ ...WEBHOOK, headers: { ...headers, "content-type": type } }), "invalid");
  for (const type of [`${FORM}; charset=UTF-8`, FORM.toUpperCase()])
    assert.equal(await verdict({ ...WEBHOOK, headers: { ...headers, "content-type": type } }), "valid");
});

test("a hash of another body, or of none, does not pass", async () => {
  const signed = (hash: string, rawBody: string): Promise<SignatureVerdict> => {
    const url = `https://example.com/hook?bodySHA256=${hash}`;
    return verdict(request({ url, type: "application/json", rawBody, signature: hmac(url) }));
  };
  assert.equal(await signed(BODY_HASH, JSON_HOOK.rawBody), "valid");
  assert.equal(await signed(BODY_HASH.toUpperCase(), JSON_HOOK.rawBody), "valid");
  assert.equal(await signed(BODY_HASH, ""), "invalid");
  assert.equal(await signed("", JSON_HOOK.rawBody), "invalid");
  assert.equal(await signed("0".repeat(64), JSON_HOOK.rawBody), "invalid");
});

interface Parts {
  method?: string;
  url: string;
  type?: string;
  rawBody?: string;
  signature?: string;
}

function request({ method = "POST", url, type, rawBody = "", signature }: Parts): SignedRequest {
  return {
    method,
    url,
    headers: { "content-type": type, "x-twilio-signature": signature },
    rawBody,
    nowMs: 0,
  };
}

async function checkSigned(
  { url, signed }: { url: string; signed: string },
  expected: SignatureVerdict,
): Promise<void> {
  assert.equal(await verdict(request({ url, signature: hmac(signed) })), expected, `${signed} for ${url}`);
}

async function signTwilio(url: string, form: string, token: string): Promise<string | undefined> {
  return (await twilio.signature?.sign({ method: "POST", url, form }, token))?.["x-twilio-signature"];
}

function verdict(signed: SignedRequest): Promise<SignatureVerdict> {
  return checkSignature("twilio", signed, TOKEN);
}

function hmac(text: string): string {
  return createHmac("sha1", TOKEN).update(text, "utf8").digest("base64");
}
