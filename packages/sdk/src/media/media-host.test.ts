import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { after, test } from "node:test";
import { until, within } from "../../../../testing/wait.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { offerOfChannel } from "../testing/offer-of-channel.ts";
import { startMediaHost, type MediaNews } from "./media-host.ts";

const STUN_BINDING_REQUEST = 0x0001;
const KIB = "x".repeat(1024);
const NOBODY = 9; // a port without a listener

const media = startMediaHost({ log: createCollectedLog().log, iceServers: () => [] });
after(() => media[Symbol.asyncDispose]());

test("a client is checked once it has been told the answer, not before", async () => {
  await using stack = new AsyncDisposableStack();
  const client = createSocket("udp4").bind(0, "127.0.0.1");
  stack.defer(() => void client.close());
  await once(client, "listening");
  let checks = 0;
  client.on("message", (packet) => void (packet.readUInt16BE(0) === STUN_BINDING_REQUEST && checks++));
  const checked = once(client, "message");

  const connection = media.open(() => undefined);
  const answer = await within(
    connection.offer(offerOfChannel(client.address().port), false),
    10_000,
    "answer",
  );
  assert.match(answer, /a=candidate:/);
  assert.equal(checks, 0);
  await within(checked, 5_000, "check");
  assert.equal(checks, 1);
  connection.close(false);
});

test("what is said before the data channel opens is kept, up to a measure", async () => {
  const news: MediaNews[] = [];
  const connection = media.open((told) => void news.push(told));
  await connection.offer(offerOfChannel(NOBODY), false);
  for (let kib = 0; kib <= 1024; kib += 1) connection.send(KIB);
  const [closed] = await until(() => news.length > 0 && news, 5_000, "end of the connection");
  assert.partialDeepStrictEqual(closed, {
    type: "closed",
    reason: "client-lost",
    unreadBytes: 1025 * 1024,
  });
});
