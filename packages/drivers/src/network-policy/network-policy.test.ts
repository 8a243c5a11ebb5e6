import assert from "node:assert/strict";
import { test } from "node:test";
import { parseReach } from "./reach.ts";
import { markOf, tableOf, networkPolicyRules, type NetworkPolicy } from "./rules.ts";

const POLICY: NetworkPolicy = {
  network: "my-bots",
  bridge: "br0",
  gateways: ["10.89.0.1"],
  resolvers: ["10.0.0.2"],
  reach: ["host:443", "host:3478/udp", "10.0.5.0/24", "10.0.6.7:8000", "fd00::/8", "[fd01::1]:8000"].map(
    parseReach,
  ),
};

test("what bots may reach is a port of this machine or addresses, and nothing else", () => {
  assert.deepEqual(parseReach("host:443"), { kind: "host", protocol: "tcp", port: 443 });
  assert.deepEqual(parseReach("host:3478/udp"), { kind: "host", protocol: "udp", port: 3478 });
  assert.deepEqual(parseReach("10.0.5.0/24"), { kind: "network", addresses: "10.0.5.0/24", port: undefined });
  assert.deepEqual(parseReach("[fd00::1]:80"), { kind: "network", addresses: "fd00::1", port: 80 });
  for (const wrong of [
    ...["", "host", "host:0", "host:70000", "host:80/sctp", "example.com", "10.0.0.0/33", "10.0.0.1:0"],
    ...["10.0.0.1/8/8", "10.0.0.1; drop", 'fd00::1 } accept comment "x', "fd00::/129"],
  ])
    assert.throws(() => parseReach(wrong), /is nothing that bots could reach/, wrong);
});

test("rules name the bridge, let through what was asked for, and carry a mark of what they were made of", () => {
  const rules = networkPolicyRules(POLICY);
  assert.equal(tableOf(POLICY), "vocalhost_my_bots");
  for (const line of [
    'iifname != "br0" accept',
    "ip daddr 10.89.0.1 meta l4proto { tcp, udp } th dport 53 accept",
    "tcp dport 443 accept",
    "udp dport 3478 accept",
    'oifname "br0" reject with icmpx admin-prohibited',
    "ip daddr 10.0.0.2 meta l4proto { tcp, udp } th dport 53 accept",
    "ip daddr 10.0.5.0/24 accept",
    "ip daddr 10.0.6.7 meta l4proto { tcp, udp } th dport 8000 accept",
    "ip6 daddr fd00::/8 accept",
    "ip6 daddr fd01::1 meta l4proto { tcp, udp } th dport 8000 accept",
    `reject with icmpx admin-prohibited comment "${markOf(POLICY)}"`,
  ])
    assert.ok(rules.includes(`    ${line}\n`), line);
  assert.notEqual(markOf({ ...POLICY, reach: [] }), markOf(POLICY));
});

test("the service's own ports are open too, and are no part of the mark: whoever looks may not know them", () => {
  const networkPolicy: NetworkPolicy = { ...POLICY, own: [{ protocol: "udp", port: 7882 }] };
  const rules = networkPolicyRules(networkPolicy);
  assert.ok(rules.includes("    udp dport 7882 accept\n"));
  assert.ok(rules.indexOf("udp dport 7882") < rules.indexOf("reject with"));
  assert.equal(markOf(networkPolicy), markOf(POLICY));
});
