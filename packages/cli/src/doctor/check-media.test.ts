import { stunAnswer, type MediaProbe } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test } from "node:test";
import type { Credentials } from "../credentials/find-credentials.ts";
import { startFakeService } from "../testing/fake-service.ts";
import { checkMedia } from "./check-media.ts";
import type { Hop } from "./hop.ts";

const { signal } = new AbortController();
const PORTS = { first: 40_000, last: 40_199 };

function credentialsFor(apiUrl: string): Credentials {
  return { apiUrl, token: "t", source: "environment", organization: undefined, publicKey: undefined };
}

async function check(probe: MediaProbe): Promise<Hop> {
  await using service = await startFakeService({ "POST /v1/media/probe": { body: probe } });
  return await checkMedia(credentialsFor(service.url), signal);
}

test("a port that answers is proof, one that does not is a fault with its cures", async () => {
  const socket = createSocket("udp4");
  socket.on("message", (message, from) => {
    const answer = stunAnswer(message, from);
    if (answer) socket.send(answer, from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  const probe: MediaProbe = { addresses: ["127.0.0.1"], ports: PORTS, port, answeredBy: "instance" };
  const reached = await check(probe);
  assert.equal(reached.state, "ok");
  assert.match(
    reached.says,
    /an instance answers at 127\.0\.0\.1:\d+, which sees this machine as 127\.0\.0\.1:/,
  );
  assert.match(reached.says, /run doctor elsewhere/);
  socket.close();
  await once(socket, "close");
  const silent = await check(probe);
  assert.equal(silent.state, "failed");
  assert.match(silent.says, /no answer from 127\.0\.0\.1:\d+ over UDP/);
  assert.match(silent.fixes.join(" "), /Open UDP 40000-40199 in the firewall/);
});

test("what cannot be asked is said", async () => {
  const any = { addresses: [], ports: null, port: null, answeredBy: "nobody" } as const;
  assert.match((await check({ ...any, addresses: [] })).says, /any UDP port/);
  const full = await check({ ...any, addresses: ["127.0.0.1"], ports: PORTS });
  assert.deepEqual(
    [full.state, /every port of UDP 40000-40199 is in use/.test(full.says)],
    ["warning", true],
  );
  const own = await check({ addresses: [], ports: PORTS, port: 40_000, answeredBy: "listener" });
  assert.deepEqual([own.state, /VOCALHOST_MEDIA_ADDRESS/.test(own.fixes.join())], ["warning", true]);
  await using old = await startFakeService({});
  const unknown = await checkMedia(credentialsFor(old.url), signal);
  assert.equal(unknown.state, "skipped");
});
