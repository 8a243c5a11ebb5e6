// Signed and judged by the carriers' own packages: twilio 6.2.0, plivo 4.79.0 and telnyx 7.24.0, on 2026-11-19, for
// addresses, fields and bodies made up by fast-check. Every other one was changed after it had been signed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { carriers, checkSignature } from "./carriers.ts";
import { signPlivo } from "./plivo.ts";
import type { SignedRequest } from "./signing.ts";

interface Recorded {
  carrier: "twilio" | "plivo" | "telnyx";
  method?: string;
  url?: string;
  /** The signed address, where it differs from the one the carrier calls. */
  signedAs?: string;
  form?: string;
  /** A body that is no form. */
  body?: string;
  secret?: string;
  nonce?: string;
  timestamp?: string;
  nowMs?: number;
  signature: string;
  /** The verdict of the carrier's own package. */
  accepted: boolean;
}

const TELNYX_KEY = "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=";
const recorded = readFileSync(new URL("fixtures/signatures.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

test("the recording has something of everything", () => {
  const counts: Partial<Record<string, Recorded[]>> = Object.groupBy(
    recorded,
    ({ carrier, accepted }) => `${carrier} ${accepted}`,
  );
  for (const carrier of ["twilio", "plivo", "telnyx"])
    for (const accepted of [true, false])
      assert.ok((counts[`${carrier} ${accepted}`]?.length ?? 0) >= 20, `${carrier} ${accepted}`);
});

for (const carrier of ["twilio", "plivo", "telnyx"] as const)
  test(`${carrier}: we accept what its own package accepts, and refuse what it refuses`, async () => {
    for (const one of recorded.filter((each) => each.carrier === carrier)) {
      const verdict = await checkSignature(carrier, requestOf(one), one.secret ?? TELNYX_KEY);
      assert.equal(verdict, one.accepted ? "valid" : "invalid", JSON.stringify(one));
    }
  });

test("twilio and plivo: we sign what their own packages accept", async () => {
  for (const one of recorded.filter(({ accepted }) => accepted)) {
    const { carrier, method = "POST", url = "", signedAs = url, form, secret = "", nonce = "" } = one;
    if (carrier === "telnyx" || form === undefined) continue;
    const request = { method, url: signedAs, form };
    const signature =
      carrier === "plivo"
        ? await signPlivo(request, nonce, secret)
        : (await carriers.twilio.signature?.sign(request, secret))?.["x-twilio-signature"];
    assert.ok(signature && one.signature.split(",").includes(signature), JSON.stringify(one));
  }
});

function requestOf(one: Recorded): SignedRequest {
  const { method = "POST", url = "https://x/", form, body, nonce, timestamp, signature, nowMs = 0 } = one;
  const isUpgrade = url.startsWith("wss:");
  const type = form === undefined ? "application/json" : "application/x-www-form-urlencoded";
  const headers = {
    "content-type": isUpgrade ? undefined : type,
    "x-twilio-signature": signature,
    "x-plivo-signature-v3": signature,
    "x-plivo-signature-v3-nonce": nonce,
    "telnyx-signature-ed25519": signature,
    "telnyx-timestamp": timestamp,
  };
  return { method, url, headers, rawBody: form ?? body ?? "", nowMs };
}
