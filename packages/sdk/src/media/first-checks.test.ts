import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test } from "node:test";
import { within } from "../../../../testing/wait.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { startMediaHost } from "./media-host.ts";

const STUN_BINDING_REQUEST = 0x0001;

test("a client is checked once it has been told the answer, not before", async () => {
  await using stack = new AsyncDisposableStack();
  const client = createSocket("udp4").bind(0, "127.0.0.1");
  stack.defer(() => void client.close());
  await once(client, "listening");
  let checks = 0;
  client.on("message", (packet) => void (packet.readUInt16BE(0) === STUN_BINDING_REQUEST && checks++));
  const checked = once(client, "message");

  const media = stack.use(startMediaHost({ log: createCollectedLog().log, iceServers: () => [] }));
  const connection = media.open(() => undefined);
  const answer = await within(connection.offer(offerFrom(client.address().port), false), 10_000, "answer");
  assert.match(answer, /a=candidate:/);
  assert.equal(checks, 0);
  await within(checked, 5_000, "check");
  assert.equal(checks, 1);
  connection.close(false);
});

function offerFrom(port: number): string {
  return [
    "v=0",
    "o=- 1 2 IN IP4 127.0.0.1",
    "s=-",
    "t=0 0",
    "a=group:BUNDLE 0",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
    "c=IN IP4 0.0.0.0",
    `a=candidate:1 1 UDP 2122260223 127.0.0.1 ${port} typ host`,
    "a=ice-ufrag:abcd",
    "a=ice-pwd:0123456789abcdef01234567",
    `a=fingerprint:sha-256 ${Array(32).fill("AB").join(":")}`,
    "a=setup:actpass",
    "a=mid:0",
    "a=sctp-port:5000",
    "",
  ].join("\r\n");
}
