// Caller and bot have no way to each other but a TURN server, which knows them by credentials minted for the session.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { call } from "../harness/raw-http.ts";
import type { PeerRoute } from "../harness/peer-client.ts";
import type { PeerCommand } from "../harness/peer-process.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { openTurnNetwork, turnIsMissing, type TurnNetwork } from "../harness/turn-network.ts";
import { within } from "../../testing/wait.ts";
import { ECHO_BOT, start } from "./hosted-calls.ts";

const SECRET = "a secret of the TURN server";
const MEDIA_PORT = 40_000; // in a network of its own
const ANSWER_MS = 30_000;

interface IceServer {
  urls: string[];
  username: string;
  credential: string;
}

interface Caller extends AsyncDisposable {
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers freely
  ask(command: PeerCommand): Promise<any>;
}

describe("calls through TURN", { skip: turnIsMissing() }, () => {
  let network: TurnNetwork;
  let service: ServiceProcess;
  let caller: Caller;
  const stack = new AsyncDisposableStack();
  before(async () => {
    network = stack.use(await openTurnNetwork(SECRET));
    caller = stack.use(startCaller(network.caller));
  });
  after(() => stack.disposeAsync());

  async function serve(environment: Record<string, string>): Promise<AsyncDisposable> {
    await using started = new AsyncDisposableStack(); // ends one that takes no agent
    service = started.use(
      await startServiceProcess({
        within: network.bots,
        environment: {
          VOCALHOST_HOST: network.botsAddress,
          VOCALHOST_ICE_SERVERS: "[]",
          VOCALHOST_TURN_URLS: `turn:${network.turnAddress}:3478?transport=udp`,
          VOCALHOST_TURN_SECRET: SECRET,
          ...environment,
        },
      }),
    );
    await service.deploy({ name: "echo", files: ECHO_BOT, maxSessionDuration: 600 });
    return started.move();
  }

  async function place(relay: "of the caller" | "of the bot"): Promise<{ route: PeerRoute; bot: string }> {
    const answer = await start(service, "echo", { transport: "webrtc", enableDefaultIceServers: true });
    const { sessionId, iceConfig } = (await answer.json()) as {
      sessionId: string;
      iceConfig: { iceServers: IceServer[] };
    };
    const [server] = iceConfig.iceServers;
    assert.ok(server);
    const [expires, user] = server.username.split(":");
    const leftS = Number(expires) - Date.now() / 1000;
    assert.ok(leftS > 600 && leftS < 1_200, `valid for ${leftS} s, beyond the longest session`);
    assert.equal(user, sessionId);
    const url = `turn:${encodeURIComponent(server.username)}:${encodeURIComponent(server.credential)}@${network.turnAddress}:3478`;
    const iceServers = relay === "of the caller" ? [url] : [];
    const { sdp, candidates } = await caller.ask({ do: "offer", iceServers });
    const { host, hostname, port } = new URL(service.apiUrl);
    const path = `/v1/public/echo/sessions/${sessionId}/api/offer`;
    const headers = { authorization: `Bearer ${service.publicKey}`, host };
    const options = { headers, address: hostname };
    const offered = await call(Number(port), `POST ${path}`, {
      ...options,
      body: { sdp, type: "offer", pc_id: null },
    });
    assert.equal(offered.status, 200, offered.body);
    const { sdp: bot, pc_id } = offered.json();
    await call(Number(port), `PATCH ${path}`, { ...options, body: { pc_id, candidates } });
    const { route } = await caller.ask({ do: "accept", sdp: bot });
    return { route, bot };
  }

  test("the bot has a port, and the caller reaches it through a relay of its own", async () => {
    await using _service = await serve({
      VOCALHOST_MEDIA_ADDRESS: network.botsMediaAddress,
      VOCALHOST_MEDIA_PORTS: `${MEDIA_PORT}-${MEDIA_PORT + 3}`,
    });
    const { outcome } = await caller.ask({
      do: "reach",
      address: network.botsMediaAddress,
      port: MEDIA_PORT,
    });
    assert.equal(outcome, "ENETUNREACH", "there is no direct way");
    const { route, bot } = await place("of the caller");
    assert.doesNotMatch(bot, /typ relay/);
    assert.equal(route.remote.address, network.botsMediaAddress);
    assert.ok(route.remote.port >= MEDIA_PORT && route.remote.port <= MEDIA_PORT + 3);
    assert.ok(!service.output().includes(SECRET), "the log keeps the secret");
  });

  test("the bot has no port, and is reached through its relay by a caller without one", async () => {
    await using _service = await serve({});
    const { route, bot } = await place("of the bot");
    assert.match(bot, new RegExp(`${network.turnAddress} \\d+ typ relay`));
    assert.deepEqual([route.remote.type, route.remote.address], ["relay", network.turnAddress]);
    assert.ok(!network.turn.output().includes("Cannot find credentials"));
  });
});

function startCaller(prefix: readonly string[]): Caller {
  const [command = "", ...args] = prefix;
  const file = fileURLToPath(new URL("../harness/peer-process.ts", import.meta.url));
  const child = spawn(command, [...args, process.execPath, "--conditions=@vocalhost/source", file], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value } = await within(lines.next(), ANSWER_MS, `answer of the caller to ${command.do}`);
      return JSON.parse(String(value)) as unknown;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill("SIGKILL"); // it has nothing to lose
      await ended;
    },
  };
}
