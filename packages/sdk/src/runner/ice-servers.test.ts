import type { IceServer } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { test } from "node:test";
import { FlagError } from "./flags.ts";
import { parseIceServers } from "./ice-servers.ts";

const STUN = "stun:stun.example.com:3478";
const TURN = "turn:turn.example.com:3478?transport=udp";

test("flag values are one server each, an address or a JSON object", () => {
  check({ flag: [STUN, TURN], servers: [{ urls: STUN }, { urls: TURN }] });
  check({
    flag: [`{"urls":["${STUN}","${TURN}"],"username":"u","credential":"c"}`, "stuns:x"],
    servers: [{ urls: [STUN, TURN], username: "u", credential: "c" }, { urls: "stuns:x" }],
  });
  check({ flag: [], variable: STUN, servers: [] }); // given without values: none
});

test("the variable is a JSON array, one object or a list of addresses", () => {
  check({ variable: `[{"urls":"${STUN}"},"${TURN}"]`, servers: [{ urls: STUN }, { urls: TURN }] });
  check({ variable: ` {"urls":"${STUN}"} `, servers: [{ urls: STUN }] });
  check({ variable: `${STUN}, ${TURN}`, servers: [{ urls: STUN }, { urls: TURN }] });
  check({ variable: "[]", servers: [] });
  check({ variable: "", servers: [] });
  check({ variable: undefined, servers: [] });
});

test("a flag wins over the variable", () => {
  check({ flag: [STUN], variable: TURN, servers: [{ urls: STUN }] });
});

test("nulls and empty credentials are left out", () => {
  check({
    variable: `{"urls":"${STUN}","username":null,"credential":""}`,
    servers: [{ urls: STUN }],
  });
});

test("anything else is refused with what is wrong", () => {
  const refused: [{ flag?: string[]; variable?: string }, RegExp][] = [
    [{ flag: ["stun.example.com"] }, /"stun\.example\.com" is not a STUN or TURN address/],
    [{ flag: ["http://x"] }, /is not a STUN or TURN address/],
    [{ flag: ["turn://x"] }, /is not a STUN or TURN address/],
    [{ flag: ["stun:"] }, /is not a STUN or TURN address/],
    [{ flag: ["stun:a b"] }, /is not a STUN or TURN address/],
    [{ flag: [""] }, /is not a STUN or TURN address/],
    [{ flag: ["{"] }, /not valid JSON/],
    [{ variable: "[" }, /not valid JSON/],
    [{ variable: `${STUN},` }, /is not a STUN or TURN address/],
    [{ variable: "{}" }, /urls: /],
    [{ variable: `{"urls":[]}` }, /urls: /],
    [{ variable: `{"urls":"${STUN}","password":"x"}` }, /password/],
    [{ variable: `{"urls":"${STUN}","username":5}` }, /username: /],
    [{ variable: `{"urls":["${STUN}","x"]}` }, /"x" is not a STUN or TURN address/],
    [{ variable: "[5]" }, /ICE servers: /],
    [{ variable: "[[]]" }, /ICE servers: /],
  ];
  for (const [{ flag, variable }, text] of refused)
    assert.throws(
      () => parseIceServers(flag, variable),
      (error) => error instanceof FlagError && text.test(error.message),
      JSON.stringify({ flag, variable }),
    );
});

function check({
  flag,
  variable,
  servers,
}: {
  flag?: string[];
  variable?: string | undefined;
  servers: IceServer[];
}): void {
  assert.deepEqual(parseIceServers(flag, variable), servers);
}
