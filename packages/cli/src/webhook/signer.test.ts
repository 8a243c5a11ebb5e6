import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import { createSigner } from "./signer.ts";

test("without a secret a random one signs, as a carrier always signs", async () => {
  const request = { url: "https://example.com/", form: "From=%2B1" };
  const names = {
    twilio: ["x-twilio-signature"],
    plivo: ["x-plivo-signature-v3", "x-plivo-signature-v3-nonce"],
    telnyx: ["telnyx-timestamp", "telnyx-signature-ed25519"],
    exotel: [],
  } as const;
  for (const carrier of ["twilio", "plivo", "telnyx", "exotel"] as const) {
    const signer = await createSigner(carrier, undefined);
    assert.ok(signer.isThrowaway);
    assert.deepEqual(Object.keys(await signer.webhookHeaders(request)), names[carrier]);
  }
  assert.deepEqual(
    Object.keys(await (await createSigner("twilio", "x")).upgradeHeaders("wss://example.com/ws")),
    ["x-twilio-signature"],
  );
  assert.deepEqual(await (await createSigner("plivo", "x")).upgradeHeaders("wss://example.com/ws"), {});
});

test("the throwaway key of Telnyx says what it is checked with", async () => {
  const signer = await createSigner("telnyx", undefined);
  const headers = await signer.webhookHeaders({ url: "", form: "a=b" });
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

test("a key of Telnyx that is none is the user's mistake", async () => {
  await assert.rejects(createSigner("telnyx", "c2hvcnQ="), { exitCode: 2, message: /32 bytes/ });
});
