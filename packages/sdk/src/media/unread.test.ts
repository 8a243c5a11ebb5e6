import assert from "node:assert/strict";
import { after, test } from "node:test";
import { until } from "../../../../testing/wait.ts";
import { createCollectedLog } from "../testing/collected-log.ts";
import { closeFarEnds, openPeer } from "../testing/far-ends.ts";
import { offerOfChannel } from "../testing/offer-of-channel.ts";
import { startMediaHost, type MediaNews } from "./media-host.ts";

const KIB = "x".repeat(1024);
const NOBODY = 9; // the port that takes everything and says nothing

after(closeFarEnds);

test("a client that stopped reading is given up, not written for without end", async () => {
  await using client = await openPeer();
  client.freeze();
  for (let kib = 0; kib < 4 * 1024; kib += 1) client.transport.rtvi.serverMessage({ text: KIB });
  await until(() => client.closed.length > 0, 5_000, "end of the session");
  assert.deepEqual(client.closed, ["ended: client-lost, does not read"]);
});

test("what is said before the data channel opens is kept, up to the same measure", async () => {
  await using media = startMediaHost({ log: createCollectedLog().log, iceServers: () => [] });
  const news: MediaNews[] = [];
  const connection = media.open((told) => void news.push(told));
  await connection.offer(offerOfChannel(NOBODY), false);
  for (let kib = 0; kib <= 1024; kib += 1) connection.send(KIB);
  const [closed] = await until(() => news.length > 0 && news, 5_000, "end of the connection");
  assert.deepEqual(closed, {
    type: "closed",
    connection: 1,
    reason: "client-lost",
    unreadBytes: 1025 * 1024,
  });
});
