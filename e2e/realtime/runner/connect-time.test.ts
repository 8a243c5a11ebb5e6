import assert from "node:assert/strict";
import { after, test } from "node:test";
import { size } from "../../../testing/sizes.ts";
import { createPeerClient, freePeerClients } from "../../harness/peer-client.ts";
import { call } from "../../harness/raw-http.ts";
import { startRunnerProcess } from "../../harness/runner-process.ts";

const runner = await startRunnerProcess({ bot: "e2e/bots/probe-bot.ts" });
after(async () => {
  await runner[Symbol.asyncDispose]();
  freePeerClients();
});

const CONNECTIONS = size(12, 200);
const REPEATED_MS = 900; // a lost packet of the handshake is sent again after a second

test("a client that offers with candidates never waits for a handshake packet to be sent again", async () => {
  const waitsMs: number[] = [];
  for (let at = 0; at < CONNECTIONS; at += 1) {
    using peer = createPeerClient();
    const sdp = await peer.wholeOffer();
    const answer = await call(runner.port, "POST /api/offer", { body: { sdp, type: "offer", pc_id: null } });
    const startMs = performance.now();
    peer.accept(answer.json().sdp);
    await peer.connected();
    waitsMs.push(Math.round(performance.now() - startMs));
  }
  const secondLong = waitsMs.filter((ms) => ms >= REPEATED_MS).length;
  assert.equal(secondLong, 0, `connected ${waitsMs.join(", ")} ms after the answer`);
});
