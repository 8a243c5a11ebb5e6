import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuthHandler } from "./auth-handler.ts";
import type { AuthLibrary } from "./auth-library.ts";

test("codes for devices are not given without end", async () => {
  let open = 9_999;
  const library: Partial<AuthLibrary> = {
    handler: async () => Response.json({}),
    countDeviceCodes: async () => open,
  };
  const handle = createAuthHandler({
    load: async () => library as AuthLibrary,
    redeem: () => Promise.reject(new Error("nothing is redeemed here")),
    limits: { run: (_attempt, hash) => hash() },
    ownOrigins: [],
    secret: "",
  });
  const ask = () => handle(new Request("http://localhost/auth/device/code", { method: "POST" }));
  assert.equal((await ask()).status, 200);
  open += 1;
  assert.equal((await ask()).status, 429);
});
