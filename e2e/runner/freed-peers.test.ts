import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseOffer } from "../../packages/sdk/src/media/offer.ts";
import { createPeer, type PeerHandlers } from "../../packages/sdk/src/media/peer.ts";
import { createPeerClient, freePeerClients } from "../harness/peer-client.ts";
import { until } from "../../testing/wait.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
after(() => freePeerClients());

const PEERS = 10;

// The library's objects live outside the heap; what they hold on to tells whether they were freed.
test("a closed peer connection is freed, connected or not", async () => {
  let freed = 0;
  const registry = new FinalizationRegistry(() => (freed += 1));
  for (let at = 0; at < PEERS; at += 1) await openAndClose(registry, at % 2 === 0);
  await until(
    () => {
      collectGarbage();
      return freed === PEERS;
    },
    15_000,
    "end of all peer connections",
  );
  assert.equal(freed, PEERS);
});

async function openAndClose(registry: FinalizationRegistry<undefined>, connects: boolean): Promise<void> {
  using client = createPeerClient();
  const on: PeerHandlers = {
    connected: ignore,
    disconnected: ignore,
    left: ignore,
    channelOpen: ignore,
    rtp: ignore,
    text: ignore,
    failed: (error) => assert.fail(String(error)),
  };
  registry.register(on, undefined);
  const peer = createPeer({
    iceServers: [],
    reach: { port: undefined, addresses: [] },
    gatherMs: 2_000,
    ssrc: 5,
    on,
  });
  client.accept(await peer.answer(parseOffer(await client.offer())));
  if (connects) await client.connected();
  peer.close();
}

function ignore(): void {
  // nothing is expected of it
}
