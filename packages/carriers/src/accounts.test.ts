import assert from "node:assert/strict";
import { test } from "node:test";
import { readCarrierAccounts, readSignatureKeys } from "./accounts.ts";

const PUBLIC = {
  twilio: "https://api.twilio.com",
  telnyx: "https://api.telnyx.com",
  plivo: "https://api.plivo.com",
  exotel: "https://api.exotel.com",
};

test("with nothing set there is nothing to hang up or check with", () => {
  assert.deepEqual(readCarrierAccounts({}), {
    twilio: undefined,
    telnyx: undefined,
    plivo: undefined,
    exotel: undefined,
    phoneNumbers: {},
    addresses: PUBLIC,
  });
  assert.deepEqual(readSignatureKeys({}), {});
});

test("an account counts when all of it is set", () => {
  const environment = {
    TWILIO_ACCOUNT_SID: "AC1",
    TWILIO_AUTH_TOKEN: "t",
    TELNYX_API_KEY: "k",
    TELNYX_PUBLIC_KEY: "p",
    PLIVO_AUTH_ID: "MA1",
    PLIVO_AUTH_TOKEN: "u",
  };
  const { twilio, telnyx, plivo } = readCarrierAccounts(environment);
  assert.deepEqual(twilio, { accountSid: "AC1", authToken: "t" });
  assert.deepEqual(telnyx, { apiKey: "k" });
  assert.deepEqual(plivo, { authId: "MA1", authToken: "u" });
  assert.deepEqual(readSignatureKeys(environment), { twilio: "t", telnyx: "p", plivo: "u" });
  const halves = {
    TWILIO_AUTH_TOKEN: "t",
    PLIVO_AUTH_TOKEN: "u",
    TWILIO_ACCOUNT_SID: "",
    TELNYX_API_KEY: "",
  };
  const { addresses, ...none } = readCarrierAccounts(halves);
  assert.deepEqual(none, {
    twilio: undefined,
    telnyx: undefined,
    plivo: undefined,
    exotel: undefined,
    phoneNumbers: {},
  });
  assert.deepEqual(addresses, PUBLIC);
  assert.equal(readSignatureKeys(halves).twilio, "t", "webhooks are checked without an account id");
});

test("a key set to nothing checks nothing", () => {
  const empty = { TWILIO_AUTH_TOKEN: "", TELNYX_PUBLIC_KEY: "", PLIVO_AUTH_TOKEN: "" };
  assert.deepEqual(readSignatureKeys(empty), readSignatureKeys({}));
});

test("REST addresses: regional with edge and region, ours with a URL", () => {
  const twilio = (environment: Record<string, string>): string =>
    readCarrierAccounts(environment).addresses.twilio;
  assert.equal(twilio({ TWILIO_EDGE: "sydney", TWILIO_REGION: "au1" }), "https://api.sydney.au1.twilio.com");
  assert.equal(twilio({ TWILIO_EDGE: "sydney" }), PUBLIC.twilio);
  assert.equal(twilio({ TWILIO_REGION: "au1" }), PUBLIC.twilio);
  const urls = {
    TWILIO_API_URL: "http://localhost:1/",
    TELNYX_API_URL: "http://localhost:2//",
    PLIVO_API_URL: "http://localhost:3",
  };
  assert.deepEqual(readCarrierAccounts({ ...urls, TWILIO_EDGE: "e", TWILIO_REGION: "r" }).addresses, {
    twilio: "http://localhost:1",
    telnyx: "http://localhost:2",
    plivo: "http://localhost:3",
    exotel: PUBLIC.exotel,
  });
});
