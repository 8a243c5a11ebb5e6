import assert from "node:assert/strict";
import { test } from "node:test";
import { isInternalRegistry, registryOf, registryReach } from "./image-registry.ts";

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
    ["[::ffff:127.0.0.1]:5000/acme/bot:1", true],
    ["registry.kube-system.svc/acme/bot:1", true],
    ["registry.internal/acme/bot:1", true],
  ];
  for (const [image, expected] of cases) {
    const registry = registryOf(image);
    assert.equal(registry !== undefined && isInternalRegistry(registry), expected, image);
  }
});

test("a registry's name may lead to no address inside, unless it is listed", () => {
  const mayReach = registryReach(["registry.example.com:5000"]);
  const named = new URL("https://127.0.0.1.nip.io:8498/v2/");
  assert.ok(mayReach(named));
  for (const address of [
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "192.168.0.1",
    "::1",
    "::ffff:10.0.0.1",
    "fe80::1",
    "fd00::1",
    "64:ff9b::7f00:1",
    "64:ff9b::a01:203",
    "64:ff9b::1",
  ])
    assert.equal(mayReach(named, address), false, address);
  for (const address of ["93.184.215.14", "2606:2800:21f::1", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e"])
    assert.equal(mayReach(named, address), true, address);
  assert.ok(mayReach(new URL("https://registry.example.com:5000/v2/"), "10.1.2.3"));
});
