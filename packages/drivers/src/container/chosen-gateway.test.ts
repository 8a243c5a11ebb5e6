import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenGateway } from "./chosen-gateway.ts";

test("the first address that a network can give is this machine's", () => {
  for (const [Subnet, IPRange, expected] of [
    ["10.200.3.0/24", undefined, ["10.200.3.1"]],
    ["10.200.3.7/24", "", ["10.200.3.1"]],
    ["192.168.255.128/25", undefined, ["192.168.255.129"]],
    ["172.28.0.0/16", "172.28.5.0/24", ["172.28.5.0"]],
    ["172.28.0.0/16", "172.28.0.0/24", ["172.28.0.1"]],
    ["fd00::/64", undefined, []],
  ] as const)
    assert.deepEqual(
      chosenGateway({ Subnet, ...(IPRange === undefined ? {} : { IPRange }) }),
      expected,
      Subnet,
    );
});
