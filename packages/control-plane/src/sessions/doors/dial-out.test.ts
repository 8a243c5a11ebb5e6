import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeyPrincipal, OrganizationId, Principal } from "../../identity/principal.ts";
import { requirePayer } from "./dial-out.ts";
import type { SessionDialling } from "./door.ts";

const organizationId = "org" as OrganizationId;
const key = (keyKind: KeyPrincipal["keyKind"]): Principal => ({
  kind: "key",
  keyId: "k",
  keyKind,
  organizationId,
  agents: null,
  ratePerMinute: null,
  concurrency: null,
});
const owner: Principal = { kind: "user", userId: "u", email: "", role: "owner", organizationId };
const dialling = (takesPublicKeys: boolean): SessionDialling => ({
  takesPublicKeys,
  accountsOf: () => Promise.reject(new Error("no call is placed here")),
});

test("a public key may place calls only where the operator says so", () => {
  for (const takesPublicKeys of [false, true])
    for (const principal of [key("private"), owner]) requirePayer(dialling(takesPublicKeys), principal);
  assert.throws(() => requirePayer(dialling(false), key("public")), { code: "DIALOUT_NOT_ALLOWED" });
  requirePayer(dialling(true), key("public"));
});
