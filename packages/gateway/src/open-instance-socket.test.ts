import { isAppError } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { acceptFor, checkUpgrade, openInstanceSocket, parseAddress } from "./open-instance-socket.ts";

const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const RIGHT = [
  "HTTP/1.1 101 Switching Protocols",
  "Upgrade: websocket",
  "Connection: Upgrade",
  `Sec-WebSocket-Accept: ${acceptFor(KEY)}`,
];

test("the accept value is that of the standard's example", () => {
  assert.equal(acceptFor(KEY), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
});

test("a right upgrade is taken, its subprotocol only if it was offered", () => {
  const check = (...more: string[]) =>
    checkUpgrade([...RIGHT, ...more].join("\r\n"), { key: KEY, protocols: ["a", "b"] });
  assert.equal(check(), undefined);
  assert.equal(check("x-own: 1", "Sec-WebSocket-Protocol: b"), "b");
  for (const more of [
    "Sec-WebSocket-Protocol: c",
    "Sec-WebSocket-Protocol: a, b",
    "Sec-WebSocket-Extensions: x",
    "Upgrade: websocket",
    "Transfer-Encoding: chunked",
    " folded",
    "no colon",
  ])
    assert.throws(() => check(more), isAppError, more);
});

test("every part of it is needed", () => {
  for (const line of RIGHT.keys()) {
    const text = RIGHT.filter((_, index) => index !== line).join("\r\n");
    assert.throws(() => checkUpgrade(text, { key: KEY, protocols: [] }), isAppError, RIGHT[line]);
  }
});

test("an address is a host and a port", () => {
  assert.deepEqual(parseAddress("127.0.0.1:80"), { host: "127.0.0.1", port: 80 });
  assert.deepEqual(parseAddress("[::1]:8080"), { host: "::1", port: 8080 });
  assert.deepEqual(parseAddress("pod-1.local:1"), { host: "pod-1.local", port: 1 });
  for (const address of ["", "x", "x:0", "x:65536", "x:80/y", "a@b:80", "x:80 ", "/tmp/x:1"])
    assert.throws(() => parseAddress(address), isAppError, address);
});

for (const [what, more] of Object.entries({
  token: { token: "x\r\nHost: y" },
  path: { path: "/x HTTP/1.1\r\n\r\nGET /y" },
  header: { headers: ["x-a", "b\nc"] },
  protocol: { protocols: ["a\u010a"] }, // its lower byte is a line feed
}))
  test(`a line's end in a ${what} is sent to nobody`, async (t) => {
    let heard = 0;
    const instance = createServer((socket) => {
      socket.on("data", ({ length }) => (heard += length)).on("error", () => undefined);
    }).listen(0, "127.0.0.1");
    t.after(() => void instance.close());
    await once(instance, "listening");
    const connected = once(instance, "connection");
    const opening = openInstanceSocket({
      address: `127.0.0.1:${(instance.address() as AddressInfo).port}`,
      token: "token",
      path: "/ws",
      headers: [],
      protocols: [],
      connectMs: 10_000,
      upgradeMs: 1_000,
      headBytes: 1_000,
      ...more,
    });
    const refused = assert.rejects(opening, { code: "ERR_INVALID_CHAR" });
    const [socket] = await connected;
    await Promise.all([refused, once(socket, "close")]);
    assert.equal(heard, 0);
  });
