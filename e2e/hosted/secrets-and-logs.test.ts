// Secrets stay with their agents, and a bot that prints much disturbs no other.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { globSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { size } from "../../testing/sizes.ts";
import { patientMs } from "../../testing/patience.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { keepTalking } from "../harness/talk.ts";
import { pause, until } from "../../testing/wait.ts";
import { ECHO_BOT, openCall } from "./hosted-calls.ts";

const AGENTS = size(2, 6);
const FLOOD_LINES_PER_SECOND = 20_000;
const FLOOD_MS = size(2_000, 5_000);
const LINES_PER_SECOND_MAX = 1_000;
/** Names in every bot's environment beside its secrets. */
const USUAL = [
  "PATH",
  "HOME",
  "LANG",
  "TZ",
  "TMPDIR",
  "ENV",
  "NODE_ENV",
  "LOG_LEVEL",
  "PWD",
  "NODE_COMPILE_CACHE",
];

interface OwnSecrets {
  agent: string;
  values: Record<string, string>;
}

describe("secrets", () => {
  let service: ServiceProcess;
  const owners: OwnSecrets[] = Array.from({ length: AGENTS }, (_, at) => ({
    agent: `keeper-${at}`,
    values: {
      MODEL_KEY: `model-${at}-${randomBytes(12).toString("hex")}`,
      [`ONLY_${at}`]: `only "${at}" $HOME \\ ${randomBytes(12).toString("base64url")}`,
    },
  }));
  const issued: string[] = [];
  before(async () => {
    service = await startServiceProcess();
    issued.push(service.privateKey, service.publicKey);
    for (const { agent, values } of owners) {
      const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
      await service.api.secrets.put(`${agent}-set`, { secrets });
      await until(
        async () => (await service.api.secrets.get(`${agent}-set`)).status === "ready",
        10_000,
        "provisioned secrets",
      );
    }
    const buildId = await service.build(ECHO_BOT);
    for (const { agent } of owners)
      await service.api.agents.create({ serviceName: agent, buildId, secretSet: `${agent}-set` });
    for (const { agent } of owners)
      await until(async () => (await service.api.agents.get(agent)).ready, 60_000, `ready ${agent}`);
  });
  after(() => service[Symbol.asyncDispose]());

  async function call(agent: string, body?: unknown) {
    const opened = await openCall(service, agent, { body });
    const inside = (path: string) =>
      fetch(`${service.apiUrl}/public/${agent}/sessions/${opened.sessionId}${path}`, {
        headers: { authorization: `Bearer ${service.publicKey}` },
      });
    return { ...opened, inside };
  }

  test("each bot finds exactly its own in its environment", async () => {
    for (const { agent, values } of owners) {
      const { socket, inside } = await call(agent);
      const environment = (await (await inside("/environment")).json()) as Record<string, string>;
      for (const [name, value] of Object.entries(values)) assert.equal(environment[name], value, agent);
      const others = Object.keys(environment).filter((name) => !(name in values) && !USUAL.includes(name));
      assert.deepEqual(others, [], `of ${agent}`);
      const text = JSON.stringify(environment);
      for (const other of owners.filter((each) => each.agent !== agent))
        for (const value of Object.values(other.values)) assert.ok(!text.includes(value));
      socket.socket.close();
    }
  });

  test("values are hidden in the log, wherever they are printed", async () => {
    const [{ agent, values }] = owners as [OwnSecrets];
    const key = values["MODEL_KEY"]!;
    // Filled in by the bot: what a start brings along is kept for a while, as it is.
    const say = [
      "the key is {MODEL_KEY}",
      "twice {MODEL_KEY}{MODEL_KEY}",
      "as json {MODEL_KEY.json} {ONLY_0.json}",
      "and this is the end",
    ];
    const { socket, sessionId } = await call(agent, { say });
    const lines = await until(
      async () => {
        const { logs } = await service.api.agents.logs(agent, { sessionId, limit: 100, order: "asc" });
        return logs.some(({ log }) => log.includes("and this is the end")) && logs.map(({ log }) => log);
      },
      10_000,
      "what was printed",
    );
    socket.socket.close();
    const text = lines.join("\n");
    assert.match(text, /the key is/);
    for (const value of Object.values(values)) assert.ok(!text.includes(value), "a value is shown");
    assert.equal((await service.api.agents.logs(agent, { query: key })).total.value, 0);
  });

  test("no key and no value is kept or shown anywhere in the clear", async () => {
    const { key, id } = await service.api.keys.create({ name: "short-lived", type: "private" });
    issued.push(key);
    await service.api.keys.revoke(id);
    const instanceTokens = service.instancePids().flatMap((pid) => tokensOf(pid));
    const secrets = [...issued, ...owners.flatMap(({ values }) => Object.values(values))];

    const commands = processList();
    for (const secret of [...secrets, ...instanceTokens])
      assert.ok(!commands.some((line) => line.includes(secret)), "in the process list");

    const shown = service.output();
    const [, afterWelcome = ""] = shown.split("Ctrl-C ends everything");
    for (const secret of secrets) assert.ok(!afterWelcome.includes(secret), "in the service's log");

    await service.stop();
    rmSync(join(service.dataFolder, "first-run.json")); // the one place where keys may be read, by its owner
    const files = globSync("**/*", { cwd: service.dataFolder })
      .map((name) => join(service.dataFolder, name))
      .filter(
        (path) => !path.includes("node_modules") && statSync(path, { throwIfNoEntry: false })?.isFile(),
      );
    assert.ok(files.some((path) => path.endsWith("vocalhost.db")));
    // Public keys are in every visitor's browser, and their owners may read them again.
    const kept = secrets.filter((secret) => !secret.startsWith("pk_"));
    for (const path of files) {
      const bytes = readFileSync(path);
      for (const secret of kept) assert.ok(!bytes.includes(secret), `${path} holds ${secret.slice(0, 9)}…`);
    }
  });
});

describe("a bot that prints without end", () => {
  let service: ServiceProcess;
  before(async () => {
    service = await startServiceProcess();
    const autoScaling = { minAgents: 1, maxAgents: 2 };
    await service.deploy({ name: "flood", files: ECHO_BOT, autoScaling });
    await service.deploy({ name: "quiet", files: ECHO_BOT, autoScaling });
  });
  after(() => service[Symbol.asyncDispose]());

  test("its lines are rationed, and another call does not notice", async (context) => {
    const quiet = await openCall(service, "quiet");
    const stopTalking = keepTalking(quiet.socket);
    await until(() => quiet.socket.heardMs > 1_000, 15_000, "own voice back");
    const flood = await openCall(service, "flood", { body: { flood: FLOOD_LINES_PER_SECOND } });
    quiet.socket.restart();
    const startedMs = performance.now();
    await pause(FLOOD_MS); // the flood is meant to last
    const floodedS = (performance.now() - startedMs) / 1000;
    const { longestGapMs, heardMs } = quiet.socket;
    const answeredMs = await timeOf(() => service.api.regions());
    flood.socket.socket.close();
    await service.sessionEnded(flood.sessionId);
    const printedS = (performance.now() - startedMs) / 1000;
    await stopTalking();
    quiet.socket.socket.close();

    const kept = await until(
      async () => {
        const { total } = await service.api.agents.logs("flood", { sessionId: flood.sessionId, limit: 1 });
        return total.value > 0 && total.value;
      },
      10_000,
      "some of the lines",
    );
    const { logs } = await service.api.agents.logs("flood", {
      sessionId: flood.sessionId,
      query: "dropped: more than",
      limit: 100,
    });
    context.diagnostic(
      `${kept} lines kept in ${printedS.toFixed(1)} s; other call: longest gap ${Math.round(longestGapMs)} ms, ` +
        `${Math.round(heardMs)} ms heard; answer in ${Math.round(answeredMs)} ms`,
    );
    const windows = Math.ceil(printedS) + 3;
    assert.ok(kept <= windows * (LINES_PER_SECOND_MAX + 10), `${kept} lines in ${printedS} s`);
    assert.ok(logs.length > 0, "and the log says that lines are missing");
    assert.ok(longestGapMs < patientMs(1_000), `a gap of ${longestGapMs} ms`);
    assert.ok(heardMs > 0.5 * floodedS * 1_000, `${heardMs} ms heard in ${floodedS} s`);
    assert.ok(answeredMs < patientMs(2_000), `an answer took ${answeredMs} ms`);
  });
});

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}

function processList(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readIfThere(`/proc/${pid}/cmdline`));
}

/** By which the service speaks to an instance: the instance itself had it in its environment when it was made. */
function tokensOf(pid: number): string[] {
  const [, token] =
    /(?:^|\0)VOCALHOST_INSTANCE_TOKEN=([^\0]+)/.exec(readIfThere(`/proc/${pid}/environ`)) ?? [];
  return token === undefined ? [] : [token];
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
