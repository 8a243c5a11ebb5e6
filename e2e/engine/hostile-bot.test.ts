// A bot that wants out: what it tries in its container, what it reaches, and that its neighbour hears nothing of it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { commitBot, loadBotImage } from "../../testing/bot-image.ts";
import { startContainerEngine, type ContainerEngine } from "../../testing/container-engine.ts";
import { until } from "../../testing/wait.ts";
import { program, vocalhost, type Desk } from "../cli/vocalhost-process.ts";
import { openHostNetwork, type HostNetwork } from "../harness/host-network.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { watchProcess } from "../harness/watched-process.ts";
import { openCall, type Call } from "../hosted/fault-call.ts";
import { echoBot, HOSTILE_BOT } from "./hostile-bot.ts";
import { programOf } from "../../testing/programs.ts";

const OPERATE = programOf("control-plane", "main/operate-main");
const STORE_PORT = 5432; // in a network of its own
const LOOPBACK_PORT = 5433;
const READY_MS = 60_000;

describe("a hostile bot in a container", () => {
  const stack = new AsyncDisposableStack();
  let network: HostNetwork;
  let engine: ContainerEngine;
  let service: ServiceProcess;
  let neighbour: Call;
  let hostile: Call;

  before(async () => {
    network = stack.use(openHostNetwork());
    engine = stack.use(await startContainerEngine({ within: network.within }));
    const base = await loadBotImage(engine.docker);
    for (const [name, bot] of Object.entries({ neighbour: echoBot(), hostile: HOSTILE_BOT })) {
      const image = engine.docker.getImage(await commitBot(engine.docker, base, bot));
      await image.tag({ repo: `localhost/${name}`, tag: "1" });
    }
    service = stack.use(
      await startServiceProcess({
        within: network.within,
        environment: { ...containerVariables(), VOCALHOST_HOST: network.address },
        timing: { idleInstanceMs: 600_000, crashBackoffMs: [0], crashesToFail: 2 },
      }),
    );
    for (const name of ["neighbour", "hostile"]) {
      await service.api.agents.create({
        serviceName: name,
        image: `localhost/${name}:1`,
        autoScaling: { minAgents: 0, maxAgents: 2 },
      });
      await service.ready(name);
    }
    neighbour = stack.use(await openCall(service, { agent: "neighbour" }));
    hostile = stack.use(await openCall(service, { agent: "hostile" }));
    const listen = (port: number, host: string): string =>
      `require("node:net").createServer((socket) => socket.end()).listen(${port}, "${host}");`;
    const [enter = "", ...args] = network.within;
    const script = `${listen(STORE_PORT, "0.0.0.0")} ${listen(LOOPBACK_PORT, "127.0.0.1")} console.log("listening");`;
    const listeners = spawn(enter, [...args, process.execPath, "-e", script]);
    await stack.use(watchProcess(listeners, "services of the host")).printed(/listening/);
  });
  after(() => stack.disposeAsync());

  function containerVariables(): Record<string, string> {
    return {
      ...engine.settings,
      VOCALHOST_CONTAINER_NETWORK_POLICY: "off", // raised in here
    };
  }

  async function ask<Answer>(path: string): Promise<Answer> {
    const answer = await fetch(`${service.apiUrl}/public/hostile/sessions/${hostile.sessionId}/${path}`, {
      headers: { authorization: `Bearer ${service.publicKey}` },
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return JSON.parse(text) as Answer;
  }

  test("reaches the internet, and under the network policy neither its host, nor private networks, nor other bots", async () => {
    const internet = await listenAt(network.internet);
    const intranet = await listenAt(network.intranet);
    stack.use(internet);
    stack.use(intranet);
    const bridge = await gatewayOf(engine);
    const [otherBot] = service.rows<{ address: string }>(
      "SELECT address FROM instances WHERE session_id = ?",
      neighbour.sessionId,
    );
    const { port: gatewayPort } = new URL(service.apiUrl);
    const inside = {
      gateway: `${network.address}:${gatewayPort}`,
      store: `${network.address}:${STORE_PORT}`,
      storeByBridge: `${bridge}:${STORE_PORT}`,
      otherMachine: intranet.at,
      otherBot: otherBot?.address ?? "none",
    };
    const never = {
      hostLoopback: `127.0.0.1:${LOOPBACK_PORT}`,
      engine: engine.socket,
      controller: join(service.dataFolder, "controller.sock"),
    };
    const reached = async (): Promise<string[]> => {
      const places: Record<string, string> = { internet: internet.at, ...inside, ...never };
      const found = await ask<Record<string, string>>(`reach?to=${Object.values(places).join(",")}`);
      return Object.keys(places).filter((name) => found[places[name]!] === "reached");
    };
    assert.deepEqual(await reached(), ["internet", ...Object.keys(inside)], "without the network policy");
    assert.equal((await networkPolicy("state")).state, "down");
    const raised = await vocalhost(desk(), ["network-policy", "up"]);
    assert.equal(raised.exitCode, 0, raised.errors);
    assert.deepEqual(await reached(), ["internet"]);
    const { state, rules } = await networkPolicy("state");
    assert.equal(state, "up");
    assert.match(rules, /table inet vocalhost_[\s\S]+reject with icmpx/);
  });

  test("sees nothing of its host, fills neither disk nor process table, and its neighbour hears nothing of it", async () => {
    const look = await ask<Record<string, unknown>>("look");
    assert.ok(Number(look["processes"]) <= 3, `it sees ${String(look["processes"])} processes`);
    assert.deepEqual(look["disks"], []);
    for (const name of ["hostMemory", "hostSettings", "hostKeys", "ownLimits"])
      assert.match(String(look[name]), /^E(?:ROFS|ACCES|PERM|NOENT|NODATA)$/, name);
    assert.deepEqual(await ask("fill"), { temporary: "ENOSPC", records: "EFBIG", program: "EROFS" });
    await ask("fork");
    await until(() => printed("no more processes: EAGAIN"), READY_MS, "its own words in its log");

    void ask("hog").catch(() => undefined);
    assert.equal(await service.sessionEnded(hostile.sessionId, READY_MS), "instance-lost");
    const { currentRevision } = await service.api.agents.get("hostile");
    const { lastTerminationReason } = currentRevision?.health ?? {};
    assert.equal(lastTerminationReason, "OOMKilled", JSON.stringify(currentRevision?.health));
    assert.match(currentRevision?.health?.message ?? "", /^It ran out of memory\.[\s\S]+taking all there is/);
    assert.match(service.output(), /"how":"It ran out of memory\."/);

    neighbour.fallSilent();
    await until(() => neighbour.sent === neighbour.echoed, 15_000, "every number back");
    assert.deepEqual([neighbour.faults, neighbour.isOpen], [[], true]);
    neighbour.say("hang up");
    assert.equal(await neighbour.closed(), 1000);
    assert.equal(await service.sessionEnded(neighbour.sessionId), "bot-finished");
  });

  function desk(): Desk {
    const folder = mkdtempSync(join(tmpdir(), "vocalhost-policy-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const environment = {
      ...containerVariables(),
      XDG_CONFIG_HOME: folder,
      VOCALHOST_DATA_DIR: service.dataFolder,
    };
    return { folder, environment, within: network.within };
  }

  /** The request of `vocalhost doctor`. */
  async function networkPolicy(what: string): Promise<{ state: string; rules: string }> {
    const { output, errors } = await program(desk(), [OPERATE, "network-policy", what]);
    assert.ok(output, errors);
    const { networkPolicies } = JSON.parse(output) as { networkPolicies: { state: string; rules: string }[] };
    assert.ok(networkPolicies[0]);
    return networkPolicies[0];
  }

  async function printed(text: string): Promise<boolean> {
    const { logs } = await service.api.agents.logs("hostile", {});
    return logs.some(({ log }) => log.includes(text));
  }
});

async function listenAt(host: string): Promise<Disposable & { at: string }> {
  const server = createServer((socket) => socket.end()).listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { at: `${host}:${port}`, [Symbol.dispose]: () => void server.close() };
}

async function gatewayOf({ docker, network }: ContainerEngine): Promise<string> {
  const { IPAM } = (await docker.getNetwork(network).inspect()) as {
    IPAM: { Config: { Gateway?: string; Subnet: string }[] };
  };
  const [{ Gateway, Subnet } = { Subnet: "" }] = IPAM.Config;
  return Gateway ?? Subnet.replace(/\.0\/24$/, ".1");
}
