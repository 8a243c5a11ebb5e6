// Calls of the hosted service through the UDP ports it was given: one for each instance, and none left behind.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { callBot, freePeerClients, type PeerClient } from "../harness/peer-client.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { askUdpPort, freeUdpPorts } from "../harness/udp-ports.ts";
import { until } from "../../testing/wait.ts";
import { ECHO_BOT, start } from "./hosted-calls.ts";

const PORTS = 2;
let first: number;
let service: ServiceProcess;

before(async () => {
  first = await freeUdpPorts(PORTS);
  service = await startServiceProcess({
    environment: {
      VOCALHOST_MEDIA_ADDRESS: "127.0.0.1",
      VOCALHOST_MEDIA_PORTS: `${first}-${first + PORTS - 1}`,
    },
    timing: { heartbeatMs: 1_000, crashBackoffMs: [0, 50], idleInstanceMs: 600_000 },
  });
  await service.deploy({ name: "echo", files: ECHO_BOT, autoScaling: { minAgents: 1, maxAgents: 9 } });
});
after(async () => {
  freePeerClients();
  await service[Symbol.asyncDispose]();
});

interface Call {
  sessionId: string;
  mediaPort: number;
  peer: PeerClient;
}

const liveRows = () =>
  service.rows<{ id: string; state: string; media_port: number; session_id: string | null }>(
    "SELECT * FROM instances WHERE state NOT IN ('stopped', 'lost')",
  );

async function placeCall(): Promise<Call> {
  const answer = await start(service, "echo", { transport: "webrtc" });
  assert.equal(answer.status, 200, await answer.clone().text());
  const { sessionId } = (await answer.json()) as { sessionId: string };
  const peer = await callBot({
    port: Number(new URL(service.apiUrl).port),
    path: `/v1/public/echo/sessions/${sessionId}/api/offer`,
    headers: { authorization: `Bearer ${service.publicKey}` },
  });
  const { remote } = peer.route();
  assert.equal(remote.address, "127.0.0.1");
  await peer.speak(25, "tone");
  await until(() => peer.heard.voiced > 5, 15_000, "echo");
  return { sessionId, mediaPort: remote.port, peer };
}

test("a waiting instance answers reachability checks at its port", async () => {
  const [idle] = liveRows();
  assert.ok(idle && idle.media_port >= first && idle.media_port < first + PORTS);
  assert.equal((await askUdpPort(idle.media_port))?.address, "127.0.0.1");
  assert.deepEqual(await service.api.probeMedia(), {
    addresses: ["127.0.0.1"],
    ports: { first, last: first + PORTS - 1 },
    port: idle.media_port,
    answeredBy: "instance",
  });
});

test("calls come through ports of their own; without one left there is a refusal, and a crash gives one back", async () => {
  const calls = [await placeCall()];
  await until(() => liveRows().length === PORTS, 15_000, "one more instance");
  calls.push(await placeCall());
  const ports = calls.map(({ mediaPort }) => mediaPort);
  assert.deepEqual(new Set(ports), new Set([first, first + 1]));
  assert.deepEqual(
    new Map(liveRows().map((row) => [row.session_id, row.media_port])),
    new Map(calls.map((call) => [call.sessionId, call.mediaPort])),
  );

  assert.equal((await service.api.probeMedia()).answeredBy, "nobody");
  const refused = await start(service, "echo", { transport: "webrtc" });
  assert.equal(refused.status, 429);
  assert.match(await refused.text(), /all media ports of the service are in use/);
  assert.match(service.output(), /every media port is in use: no more instances until one ends/);

  const [lost, kept] = calls;
  assert.ok(lost && kept);
  const { id } = liveRows().find((row) => row.session_id === lost.sessionId) ?? { id: "" };
  process.kill(pidOf(id), "SIGKILL");
  await service.sessionEnded(lost.sessionId);
  lost.peer.close();
  const again = await placeCall();
  assert.equal(again.mediaPort, lost.mediaPort, "the port of the one that was killed");
  kept.peer.heard.restart();
  await kept.peer.speak(25, "tone");
  await until(() => kept.peer.heard.voiced > 5, 15_000, "the other call goes on");
});

function pidOf(instanceId: string): number {
  const file = join(service.dataFolder, "instances", instanceId, "process.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { pid: number }).pid;
}
