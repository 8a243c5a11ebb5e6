import assert from "node:assert/strict";
import { test } from "node:test";
import { startFakeService, type FakeAnswer } from "../testing/fake-service.ts";
import { requestDeviceCode, waitForToken } from "./device-flow.ts";

const CODE = {
  ...{ device_code: "d", user_code: "ABCD1234", verification_uri: "http://x/device" },
  ...{ verification_uri_complete: "http://x/device?user_code=ABCD1234", expires_in: 60, interval: 0 },
};
const refusal = (error: string): FakeAnswer => ({ status: 400, body: { error } });
const options = (serviceUrl: string, signal = new AbortController().signal) => ({
  serviceUrl,
  fetch,
  signal,
});

test("asks until somebody has agreed", async () => {
  const replies = [
    refusal("authorization_pending"),
    refusal("authorization_pending"),
    { body: { access_token: "t.s" } },
  ];
  await using service = await startFakeService({
    "POST /auth/device/code": { body: CODE },
    "POST /auth/device/token": (body) => {
      assert.deepEqual(JSON.parse(body), {
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: "d",
        client_id: "vocalhost-cli",
      });
      return replies.shift() ?? "never";
    },
  });
  const code = await requestDeviceCode(options(service.url));
  assert.equal(code.user_code, "ABCD1234");
  assert.equal(await waitForToken(options(service.url), code), "t.s");
});

test("a refusal, a code that has expired and anything else are told apart", async () => {
  for (const [error, code] of [
    ["access_denied", "sign_in_denied"],
    ["expired_token", "sign_in_timed_out"],
    ["invalid_grant", "sign_in_failed"],
  ] as const) {
    await using service = await startFakeService({ "POST /auth/device/token": refusal(error) });
    await assert.rejects(waitForToken(options(service.url), CODE), { name: "Problem", code });
  }
  await using service = await startFakeService({});
  await assert.rejects(requestDeviceCode(options(service.url)), { code: "sign_in_unavailable" });
});

test("whoever asks too often waits longer, and Ctrl-C ends the waiting", async () => {
  await using service = await startFakeService({ "POST /auth/device/token": refusal("slow_down") });
  const interrupted = new AbortController();
  const waiting = waitForToken(options(service.url, interrupted.signal), CODE);
  await service.asked("POST /auth/device/token");
  interrupted.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  assert.equal(service.requests.length, 1);
});
