// The two ways of sound to pods whose addresses callers cannot reach: through TURN, and through ports of the nodes.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "../../testing/wait.ts";
import { createPeerClient, freePeerClients } from "../harness/peer-client.ts";
import { call } from "../harness/raw-http.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { missingPrograms, startTurnServer } from "../harness/turn-server.ts";
import { start } from "../hosted/hosted-calls.ts";
import { readTestCluster } from "./config.ts";
import { callOverWebRtc, countingBot, goOn } from "./live-calls.ts";
import { openTestCluster, type TestCluster } from "./test-cluster.ts";

const AGENT = "echo";
const SECRET = "a secret of the TURN server";
const { machine, mediaPorts } = readTestCluster();

interface IceServer {
  username: string;
  credential: string;
}

describe("sound to and from pods", () => {
  const stack = new AsyncDisposableStack();
  let cluster: TestCluster;
  before(async () => {
    cluster = stack.use(await openTestCluster());
  });
  after(async () => {
    freePeerClients();
    await stack.disposeAsync();
  });

  async function serve(
    within: TestCluster,
    environment: Record<string, string> = {},
  ): Promise<ServiceProcess> {
    const image = await within.push(countingBot());
    const service = await startServiceProcess({ environment: { ...within.settings(), ...environment } });
    await service.deploy({ name: AGENT, image, autoScaling: { minAgents: 1, maxAgents: 2 } });
    return service;
  }

  const turnIsMissing =
    machine === undefined
      ? "VOCALHOST_TEST_MACHINE says where pods reach the TURN server of this machine"
      : missingPrograms("turnserver").length > 0 && "there is no turnserver";

  test("goes through TURN, where a caller has no other way", { skip: turnIsMissing }, async () => {
    assert.ok(machine);
    await using turn = await startTurnServer({ address: machine, secret: SECRET });
    await using service = await serve(cluster, {
      VOCALHOST_ICE_SERVERS: "[]",
      VOCALHOST_TURN_URLS: `turn:${machine}:3478?transport=udp`,
      VOCALHOST_TURN_SECRET: SECRET,
    });
    const answer = await start(service, AGENT, { transport: "webrtc", enableDefaultIceServers: true });
    const { sessionId, iceConfig } = (await answer.json()) as {
      sessionId: string;
      iceConfig: { iceServers: [IceServer] };
    };
    const [username, credential] = [iceConfig.iceServers[0].username, iceConfig.iceServers[0].credential];
    using peer = createPeerClient({
      iceServers: [`turn:${encodeURIComponent(username)}:${encodeURIComponent(credential)}@${machine}:3478`],
      needsRelay: true,
      address: "127.0.0.1", // which pods do not reach, unlike the server's address, where they would find the caller too
    });
    const offered = await call(
      Number(new URL(service.apiUrl).port),
      `POST /v1/public/${AGENT}/sessions/${sessionId}/api/offer`,
      {
        body: { sdp: await peer.wholeOffer(), type: "offer", pc_id: null },
        headers: { authorization: `Bearer ${service.publicKey}`, host: new URL(service.apiUrl).host },
      },
    );
    assert.equal(offered.status, 200, offered.body);
    assert.match(String(offered.json().sdp), /typ relay/, "the bot has a relay of its own");
    const relayAlone = String(offered.json().sdp).replaceAll(/a=candidate:(?!.*typ relay).*\r\n/g, "");
    peer.accept(relayAlone);
    await peer.connected(60_000);
    await peer.speak(25, "tone");
    await until(() => peer.heard.voiced > 5, 30_000, "echo");
    assert.deepEqual([peer.route().remote.type, peer.route().remote.address], ["relay", machine]);
    assert.ok(!turn.output().includes("Cannot find credentials"));
    peer.close();
    assert.equal(await service.sessionEnded(sessionId, 60_000), "client-left");
  });

  test(
    "goes through a port of the pod's node",
    { skip: mediaPorts === undefined && "VOCALHOST_TEST_MEDIA_PORTS names UDP ports of the nodes" },
    async () => {
      const [first = 0, last = 0] = (mediaPorts ?? "").split("-").map(Number);
      await using open = await openTestCluster({ mediaPorts });
      await using service = await serve(open);
      using called = await callOverWebRtc({ ...service, port: Number(new URL(service.apiUrl).port) }, AGENT);
      await goOn([], [called]);
      const { address, port } = called.peer.route().remote;
      assert.ok(port >= first && port <= last, `port ${port}`);
      const { api, namespace } = open;
      const nodes = (await api.listNamespacedPod({ namespace })).items.map(({ status }) => status?.hostIP);
      assert.ok(nodes.includes(address), `${address} is a node's`);
      called.peer.close();
      assert.equal(await service.sessionEnded(called.sessionId, 60_000), "client-left");
    },
  );

  test("where the namespace refuses ports of nodes, the service says so", async () => {
    const environment = { ...cluster.settings(), VOCALHOST_MEDIA_PORTS: "40000-40009" };
    await using service = await startServiceProcess({ environment });
    const image = await cluster.push(countingBot());
    await service.api.agents.create({ serviceName: AGENT, image, autoScaling: { minAgents: 1 } });
    await service.printed(/violates PodSecurity \\"restricted:latest\\": hostPort/);
    await service.api.agents.delete(AGENT);
  });
});
