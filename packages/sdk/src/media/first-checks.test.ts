import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test } from "node:test";
import { within } from "../../../../testing/wait.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { offerOfChannel } from "../testing/offer-of-channel.ts";
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
