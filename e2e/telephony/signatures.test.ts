// The carriers' own packages sign and check; ours must agree with them in both directions.
import assert from "node:assert/strict";
import fc from "fast-check";
import { generateKeyPairSync, sign } from "node:crypto";
import { describe, test } from "node:test";
import plivo from "plivo/dist/utils/v3Security.js";
import { TelnyxWebhook } from "telnyx/lib/webhooks.js";
import twilio from "twilio/lib/webhooks/webhooks.js";
import { checkPlivoSignature, signPlivo } from "@vocalhost/carriers";
import type { SignatureVerdict } from "@vocalhost/carriers";
import { checkTelnyxSignature } from "@vocalhost/carriers";
import { checkTwilioSignature, signTwilio } from "@vocalhost/carriers";

const FORM_TYPE = "application/x-www-form-urlencoded";

const value = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom("+14158675309", "Jürgen 📞", "a&b=c", "O'Brien", "", "100%", "+ +", "ﬁ\u0301"),
);
const name = fc.oneof(
  fc.constantFrom("From", "To", "CallSid", "CallUUID", "Digits", "digits", "a", "B", "SpeechResult", "名"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).filter((text) => !(text in {})),
);
const pairs = fc.array(fc.tuple(name, value), { maxLength: 8 });
const host = fc.constantFrom("example.com", "bots.example.com", "example.com:8443", "127.0.0.1:7860");
const path = fc.constantFrom("/", "/voice", "/a/b/", "/answer.xml", "/%7Euser");
const scheme = fc.constantFrom("https", "http");
const token = fc.constantFrom("12345", "f00dbabef00dbabef00dbabef00dbabe");

/** The address of a webhook, with and without a query. */
const address = fc
  .record({ scheme, host, path, query: pairs })
  .map((parts) => `${parts.scheme}://${parts.host}${parts.path}${queryOf(parts.query)}`);

describe("twilio", () => {
  test("both sign the same, and each accepts what the other signs", () => {
    fc.assert(
      fc.property(address, pairs, token, (url, fields, authToken) => {
        const form = new URLSearchParams(fields).toString();
        const theirs = twilio.getExpectedTwilioSignature(authToken, url, grouped(fields));
        assert.equal(signTwilio(url, form, authToken), theirs);
        assert.equal(
          twilio.validateRequest(authToken, signTwilio(url, form, authToken), url, grouped(fields)),
          true,
        );
        assert.equal(ours({ url, form, authToken, signature: theirs }), "valid");
      }),
      { numRuns: 500 },
    );
  });

  test("what one refuses the other refuses: fields, address, signature or token changed", () => {
    fc.assert(
      fc.property(address, pairs, fc.tuple(name, value), (url, fields, extra) => {
        const authToken = "12345";
        const signature = signTwilio(url, new URLSearchParams(fields).toString(), authToken);
        const cases = [
          { url, fields: [...fields, extra], signature, authToken },
          { url: `${url}${url.includes("?") ? "&" : "?"}x=1`, fields, signature, authToken },
          { url, fields, signature: flipped(signature), authToken },
          { url, fields, signature, authToken: "12346" },
        ];
        for (const { fields: given, ...request } of cases) {
          const theirs = twilio.validateRequest(
            request.authToken,
            request.signature,
            request.url,
            grouped(given),
          );
          const verdict = ours({ ...request, form: new URLSearchParams(given).toString() });
          assert.equal(verdict, theirs ? "valid" : "invalid");
        }
      }),
      { numRuns: 500 },
    );
  });

  test("ports: added or left out by whoever signed", () => {
    const signedAs: [string, string][] = [
      ["https://example.com/voice", "https://example.com:443/voice"],
      ["https://example.com:443/voice", "https://example.com/voice"],
      ["http://example.com/voice", "http://example.com:80/voice"],
      ["https://example.com:8443/voice", "https://example.com/voice"],
      ["https://example.com:8443/voice?a=1", "https://example.com:8443/voice?a=1"],
    ];
    for (const [url, signed] of signedAs) {
      const signature = twilio.getExpectedTwilioSignature("12345", signed, {});
      assert.equal(twilio.validateRequest("12345", signature, url, {}), true, url);
      assert.equal(ours({ url, form: "", authToken: "12345", signature }), "valid", url);
    }
  });

  test("an upgrade", () => {
    const url = "wss://example.com/ws";
    const signature = twilio.getExpectedTwilioSignature("12345", url, {});
    assert.equal(signature, "HXrgvHt0qTHu33oSxSjpOvWtO60=");
    assert.equal(ours({ method: "GET", url, form: undefined, authToken: "12345", signature }), "valid");
    assert.equal(twilio.validateRequest("12345", signTwilio(url, "", "12345"), url, {}), true);
  });

  test("a JSON body by its hash", () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), (body, other) => {
        const url = `https://example.com/hook?bodySHA256=${twilio.getExpectedBodyHash(body)}`;
        const signature = twilio.getExpectedTwilioSignature("12345", url, {});
        for (const given of [body, other, `${body} `, ""]) {
          const theirs = twilio.validateRequestWithBody("12345", signature, url, given);
          assert.equal(json({ url, body: given, signature }), theirs ? "valid" : "invalid");
        }
      }),
    );
    function json({
      url,
      body,
      signature,
    }: {
      url: string;
      body: string;
      signature: string;
    }): SignatureVerdict {
      const headers = { "content-type": "application/json", "x-twilio-signature": signature };
      return checkTwilioSignature({ method: "POST", url, headers, rawBody: body, nowMs: 0 }, "12345");
    }
  });

  interface Given {
    method?: string;
    url: string;
    /** Undefined: there is no body. */
    form: string | undefined;
    authToken: string;
    signature: string;
  }

  function ours({ method = "POST", url, form, authToken, signature }: Given): SignatureVerdict {
    const headers = {
      "x-twilio-signature": signature,
      ...(form === undefined ? {} : { "content-type": FORM_TYPE }),
    };
    return checkTwilioSignature({ method, url, headers, rawBody: form ?? "", nowMs: 0 }, authToken);
  }
});

describe("plivo", () => {
  const method = fc.constantFrom("POST", "GET");
  const nonce = fc.constantFrom("12345", "05429567804466091622");

  test("they accept what we sign, with the same query, fields and nonce only", () => {
    fc.assert(
      fc.property(address, pairs, method, nonce, (url, fields, method, nonce) => {
        const form = new URLSearchParams(fields).toString();
        const signature = signPlivo({ method, url, form, nonce, authToken: "my_auth_token" });
        const params = grouped(fields);
        const theirs = (given: { signature?: string; nonce?: string; url?: string; params?: object }) =>
          plivo.validateV3Signature(
            method,
            given.url ?? url,
            given.nonce ?? nonce,
            "my_auth_token",
            given.signature ?? signature,
            given.params ?? params,
          );
        assert.equal(theirs({}), true, `${method} ${url} ${form}`);
        assert.equal(theirs({ signature: `AAAA,${signature}` }), true);
        assert.equal(theirs({ signature: flipped(signature) }), false);
        assert.equal(theirs({ nonce: `${nonce}1` }), false);
        assert.equal(theirs({ params: { ...params, Extra: "1" } }), false);
        assert.equal(theirs({ url: `${url}${url.includes("?") ? "&" : "?"}Extra=1` }), false);
      }),
      { numRuns: 500 },
    );
  });

  test("we accept what they accept and refuse what they refuse", () => {
    const change = fc.constantFrom("nothing", "signature", "nonce", "field", "token");
    fc.assert(
      fc.property(address, pairs, nonce, change, (url, fields, nonce, change) => {
        const signedFields: [string, string][] = change === "field" ? [...fields, ["Extra", "1"]] : fields;
        const good = signPlivo({
          method: "POST",
          url,
          form: new URLSearchParams(signedFields).toString(),
          nonce: change === "nonce" ? `${nonce}0` : nonce,
          authToken: change === "token" ? "another" : "my_auth_token",
        });
        const signature = change === "signature" ? flipped(good) : good;
        const theirs = plivo.validateV3Signature(
          "POST",
          url,
          nonce,
          "my_auth_token",
          signature,
          grouped(fields),
        );
        const headers = {
          "content-type": FORM_TYPE,
          "x-plivo-signature-v3": signature,
          "x-plivo-signature-v3-nonce": nonce,
        };
        const rawBody = new URLSearchParams(fields).toString();
        const verdict = checkPlivoSignature(
          { method: "POST", url, headers, rawBody, nowMs: 0 },
          "my_auth_token",
        );
        assert.equal(theirs, change === "nothing");
        assert.equal(verdict, change === "nothing" ? "valid" : "invalid");
      }),
      { numRuns: 500 },
    );
  });

  test("an address set without its final slash", () => {
    const signature = signPlivo({
      method: "POST",
      url: "https://example.com",
      form: "From=1",
      nonce: "12345",
      authToken: "my_auth_token",
    });
    const params = { From: "1" };
    const theirs = plivo.validateV3Signature(
      "POST",
      "https://example.com",
      "12345",
      "my_auth_token",
      signature,
      params,
    );
    assert.equal(theirs, true);
    const headers = {
      "content-type": FORM_TYPE,
      "x-plivo-signature-v3": signature,
      "x-plivo-signature-v3-nonce": "12345",
    };
    const received = { method: "POST", url: "https://example.com/", headers, rawBody: "From=1", nowMs: 0 };
    assert.equal(checkPlivoSignature(received, "my_auth_token"), "valid");
  });
});

describe("telnyx", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("base64");
  const nowS = Math.floor(Date.now() / 1000);

  async function check(
    parts: { body: string; timestamp: string; signature: string },
    expected: boolean,
  ): Promise<void> {
    const headers = { "telnyx-signature-ed25519": parts.signature, "telnyx-timestamp": parts.timestamp };
    const theirs = await new TelnyxWebhook(key).verify(parts.body, headers).then(
      () => true,
      () => false,
    );
    const request = { method: "POST", url: "https://x/", headers, rawBody: parts.body, nowMs: Date.now() };
    assert.equal(theirs, expected);
    assert.equal(checkTelnyxSignature(request, key), expected ? "valid" : "invalid", JSON.stringify(parts));
  }

  const signed = (timestamp: string, body: string): string =>
    sign(null, Buffer.from(`${timestamp}|${body}`), privateKey).toString("base64");

  test("both accept the same bodies and refuse the same changes", async () => {
    const body = fc.oneof(fc.json(), fc.string({ unit: "grapheme" }), fc.constant(""));
    await fc.assert(
      fc.asyncProperty(body, fc.integer({ min: -290, max: 290 }), async (body, offsetS) => {
        const timestamp = String(nowS + offsetS);
        const signature = signed(timestamp, body);
        await check({ body, timestamp, signature }, true);
        await check({ body: `${body} `, timestamp, signature }, false);
        await check({ body, timestamp: String(nowS + offsetS + 1), signature }, false);
        await check({ body, timestamp, signature: flipped(signature) }, false);
      }),
    );
  });

  test("both refuse what is stale or from the future, though well signed", async () => {
    for (const offsetS of [-310, -3600, -1e9, 310, 3600, 1e9]) {
      const timestamp = String(nowS + offsetS);
      await check({ body: "{}", timestamp, signature: signed(timestamp, "{}") }, false);
    }
  });
});

/** Repeated names become a list, as web frameworks do. */
function grouped(fields: [string, string][]): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = {};
  for (const [name, value] of fields) {
    const before = result[name];
    result[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return result;
}

function queryOf(fields: [string, string][]): string {
  return fields.length > 0 ? `?${new URLSearchParams(fields).toString()}` : "";
}

function flipped(signature: string): string {
  const bytes = Buffer.from(signature, "base64");
  bytes[7]! ^= 1;
  return bytes.toString("base64");
}
