import assert from "node:assert/strict";
import { test } from "node:test";
import { isInternalRegistry, registryOf } from "./image-registry.ts";

test("registries inside are told from those outside", () => {
  const cases: [string, boolean][] = [
    ["acme/bot:1", false],
    ["ghcr.io/acme/bot:1", false],
    ["registry.example.com:5000/acme/bot:1", false],
    ["localhost/acme/bot:1", true],
    ["localhost:5000/acme/bot:1", true],
    ["registry:5000/acme/bot:1", true],
    ["127.0.0.1/acme/bot:1", true],
    ["10.0.0.1:5000/acme/bot:1", true],
    ["169.254.169.254/acme/bot:1", true],
    ["registry.kube-system.svc/acme/bot:1", true],
    ["registry.internal/acme/bot:1", true],
  ];
  for (const [image, expected] of cases) {
    const registry = registryOf(image);
    assert.equal(registry !== undefined && isInternalRegistry(registry), expected, image);
  }
});
