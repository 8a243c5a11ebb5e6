// Every call of a runner through one UDP port, announced at an address that is not the machine's own.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { after, test } from "node:test";
import { callBot, createPeerClient, freePeerClients } from "../harness/peer-client.ts";
import { call } from "../harness/raw-http.ts";
import { startRunnerProcess } from "../harness/runner-process.ts";
import { freeUdpPorts } from "../harness/udp-ports.ts";
import { until } from "../../testing/wait.ts";

const mediaPort = await freeUdpPorts(1);
const runner = await startRunnerProcess({
  bot: "examples/parrot/bot.ts",
  flags: ["--media-port", String(mediaPort), "--media-address", "127.0.0.1"],
});
after(async () => {
  await runner[Symbol.asyncDispose]();
  freePeerClients();
});

test("several calls at once come through the port, each with its own sound", async () => {
  const calls = await Promise.all([callBot(runner), callBot(runner), callBot(runner)]);
  for (const peer of calls) {
    const { remote } = peer.route();
    assert.deepEqual([remote.address, remote.port], ["127.0.0.1", mediaPort]);
    peer.heard.restart();
  }
  const [first, ...others] = calls;
  assert.ok(first);
  await Promise.all([first.speak(50, "tone"), ...others.map((peer) => peer.speak(50, "silence"))]);
  await until(() => first.heard.voiced > 20, 15_000, "echo of the first caller");
  for (const peer of others) assert.ok(peer.heard.voiced < 10, "hears what others say");
  for (const peer of calls) peer.close();
});

test("the answer names the address and no other", async () => {
  using peer = createPeerClient();
  const answer = await call(runner.port, "POST /api/offer", {
    body: { sdp: await peer.offer(), type: "offer", pc_id: null },
  });
  const candidates = String(answer.json().sdp).match(/^a=candidate:.*$/gm) ?? [];
  assert.ok(candidates.length > 0);
  for (const candidate of candidates)
    assert.match(candidate, new RegExp(`^a=candidate:h1 1 UDP \\d+ 127\\.0\\.0\\.1 ${mediaPort} typ host`));
});

test("a port that another program uses is named in the refusal", async () => {
  const socket = createSocket("udp4");
  socket.bind(0);
  await once(socket, "listening");
  const { port } = socket.address();
  await using other = await startRunnerProcess({
    bot: "examples/parrot/bot.ts",
    flags: ["--media-port", String(port)],
  });
  using peer = createPeerClient();
  const answer = await call(other.port, "POST /api/offer", {
    body: { sdp: await peer.offer(), type: "offer", pc_id: null },
  });
  socket.close();
  assert.equal(answer.status, 400);
  assert.match(answer.body, new RegExp(`UDP port ${port} cannot be opened: another program uses it`));
});
