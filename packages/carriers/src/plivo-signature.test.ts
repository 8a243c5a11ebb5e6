import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { oneBitMutants } from "../../../testing/one-bit-mutants.ts";
import { checkSignature, type SignatureVerdict } from "./carriers.ts";
import { signPlivo } from "./plivo.ts";
import type { SignedRequest } from "./signing.ts";

const TOKEN = "my_auth_token";
const NONCE = "12345";
const ANSWER = "https://example.com/answer";

interface Known {
  method: string;
  url: string;
  form: string;
  text: string;
  signature: string;
}

const KNOWN: Known[] = [
  {
    method: "POST",
    url: ANSWER,
    form: "To=18005551212&From=14158675309&CallUUID=97ceeb52-58b6-11e1-86da-77300b68f8bb",
    text: `${ANSWER}?CallUUID97ceeb52-58b6-11e1-86da-77300b68f8bbFrom14158675309To18005551212.12345`,
    signature: "EjWyOg1JJK4dae/7dmPGqE03ihgIAE5UXEhFmBeoRk0=",
  },
  {
    method: "POST",
    url: `${ANSWER}?b=2&a=1`,
    form: "To=2&From=1",
    text: `${ANSWER}?a=1&b=2.From1To2.12345`,
    signature: "QRJDrKPk1aQE8vUk8WVYHqoprqJqWss1yrlmjWMuPRg=",
  },
  {
    method: "GET",
    url: `${ANSWER}?b=2`,
    form: "From=1&To=2",
    text: `${ANSWER}?From=1&To=2&b=2.12345`,
    signature: "GaRRRAVzNsscYM68VmD3ik3cuWhVBlE4tWsASaimPYA=",
  },
  {
    method: "POST",
    url: ANSWER,
    form: "",
    text: `${ANSWER}.12345`,
    signature: "0yCSTcpk0g5MyH+eKhYi02RUlMZ/VPnJKABuBXoajUc=",
  },
];

test("the known signatures fit", async () => {
  for (const known of KNOWN) {
    assert.equal(hmac(known.text), known.signature);
    assert.equal(await signPlivo(known, NONCE, TOKEN), known.signature);
    assert.equal(await verdict(request(known)), "valid");
  }
});

test("one changed bit anywhere in signature or nonce is noticed", async () => {
  for (const known of KNOWN) {
    for (const signature of oneBitMutants(known.signature))
      assert.equal(await verdict(request({ ...known, signature })), "invalid", signature);
    for (const nonce of oneBitMutants(NONCE))
      assert.equal(await verdict(request(known, nonce)), "invalid", nonce);
  }
});

test("one changed bit anywhere in body or address is noticed, unless it means the same", async () => {
  const means = (text: string): string => [...new URLSearchParams(text)].map(String).sort().join();
  for (const known of KNOWN) {
    for (const form of oneBitMutants(known.form))
      if (means(form) !== means(known.form))
        assert.equal(await verdict(request({ ...known, form })), "invalid", form);
    const [base = "", query = ""] = known.url.split("?");
    for (const mutant of oneBitMutants(base)) {
      const url = known.url.replace(base, () => mutant);
      assert.equal(await verdict(request({ ...known, url })), "invalid", url);
    }
    for (const mutant of oneBitMutants(query))
      if (means(mutant) !== means(query))
        assert.equal(await verdict(request({ ...known, url: `${base}?${mutant}` })), "invalid", mutant);
  }
});

test("one of several signatures must fit", async () => {
  const [known] = KNOWN;
  const given = (signature: string): Promise<SignatureVerdict> => verdict(request({ ...known!, signature }));
  const other = hmac("something else");
  assert.equal(await given(`${other},${known!.signature}`), "valid");
  assert.equal(await given(`${known!.signature}, ${other}`), "valid");
  assert.equal(await given(`${other},${other}`), "invalid");
  assert.equal(await given(""), "invalid");
  assert.equal(await given(","), "invalid");
});

test("missing headers do not pass", async () => {
  const complete = request(KNOWN[0]!);
  for (const name of ["x-plivo-signature-v3", "x-plivo-signature-v3-nonce"])
    for (const value of [undefined, ""])
      assert.equal(
        await verdict({ ...complete, headers: { ...complete.headers, [name]: value } }),
        "invalid",
        name,
      );
  assert.equal(await checkSignature("plivo", complete, "my_auth_tokeN"), "invalid");
  assert.equal(await checkSignature("plivo", complete, undefined), "off");
  assert.equal(await checkSignature("plivo", complete, ""), "off");
});

test("the method counts", async () => {
  assert.equal(await verdict({ ...request(KNOWN[1]!), method: "GET" }), "invalid");
  assert.equal(await verdict({ ...request(KNOWN[2]!), method: "POST" }), "invalid");
});

test("repeated fields are all signed, in order; any script is", async () => {
  const signs = async (form: string, text: string, url = ANSWER): Promise<void> =>
    assert.equal(
      await signPlivo({ method: "POST", url, form }, NONCE, TOKEN),
      hmac(`${text}.${NONCE}`),
      form,
    );
  await signs("a=2&a=1&a=2", `${ANSWER}?a1a2a2`);
  await signs("b=1&B=2", `${ANSWER}?B2b1`);
  await signs("name=J%C3%BCrgen+%F0%9F%93%9E", `${ANSWER}?nameJürgen 📞`);
  await signs("", `${ANSWER}?n=J\u00fc`, `${ANSWER}?n=J%C3%BC`);
  await signs("", "https://example.com:8443/.", "https://example.com:8443/.");
  await signs("=", `${ANSWER}?`);
});

test("an address without a path may have been written without its slash", async () => {
  const signed = (url: string, text: string): Promise<SignatureVerdict> =>
    verdict(request({ method: "POST", url, form: "", text, signature: hmac(`${text}.${NONCE}`) }));
  assert.equal(await signed("https://example.com/", "https://example.com/"), "valid");
  assert.equal(await signed("https://example.com/", "https://example.com"), "valid");
  assert.equal(await signed("https://example.com/?a=1", "https://example.com?a=1"), "valid");
  assert.equal(await signed("https://example.com/a/", "https://example.com/a"), "invalid");
});

test("fields count only when the body is a form", async () => {
  const complete = request(KNOWN[0]!);
  for (const type of ["text/plain", "application/json", undefined])
    assert.equal(
      await verdict({ ...complete, headers: { ...complete.headers, "content-type": type } }),
      "invalid",
    );
});

function request({ method, url, form, signature }: Known, nonce = NONCE): SignedRequest {
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    "x-plivo-signature-v3": signature,
    "x-plivo-signature-v3-nonce": nonce,
  };
  return { method, url, headers, rawBody: form, nowMs: 0 };
}

function verdict(signed: SignedRequest): Promise<SignatureVerdict> {
  return checkSignature("plivo", signed, TOKEN);
}

function hmac(text: string): string {
  return createHmac("sha256", TOKEN).update(text, "utf8").digest("base64");
}
