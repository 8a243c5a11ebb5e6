// Every way into a session of the hosted service, and what is told about it afterwards.
import assert from "node:assert/strict";
import { carrierNames } from "@vocalhost/protocol";
import { createSpeechLike } from "@vocalhost/simulator";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { callBot, freePeerClients } from "../harness/peer-client.ts";
import { addOrganization, startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { openSocket, tryUpgrade, type SocketClient } from "../harness/socket-client.ts";
import { keepTalking } from "../harness/talk.ts";
import { size } from "../../testing/sizes.ts";
import { until, within } from "../../testing/wait.ts";
import { isQuiet } from "../telephony/sound.ts";
import { dial } from "../telephony/telephone.ts";
import { groupIn } from "../../packages/drivers/src/process/cgroup-tree.ts";
import { ECHO_BOT, prepareCall, start } from "./hosted-calls.ts";

const BROKEN_BOT = `throw new Error("no credentials for the model");\nexport async function bot() {}\n`;
const SPEECH = createSpeechLike();
const TIMING = { heartbeatMs: 1_000, crashBackoffMs: [0, 50], idleInstanceMs: 600_000 };

/** How many programs the kernel takes the group for in which the groups of all instances are. */
function programsCounted(instancePid: number): (() => number) | undefined {
  const group = groupIn(readIfThere("/proc/self/mountinfo"), readIfThere(`/proc/${instancePid}/cgroup`));
  const file = join(dirname(group ?? ""), "cpu.weight");
  if (!/vocalhost-[0-9a-f]+\/cpu.weight$/.test(file) || !existsSync(file)) return undefined;
  return () => Number(readFileSync(file, "utf8")) / 100;
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

describe("sessions of the hosted service", () => {
  let service: ServiceProcess;
  let long: { sessionId: string; socket: SocketClient; stopTalking: () => Promise<number> };
  before(async () => {
    service = await startServiceProcess({ timing: TIMING });
    const files = ECHO_BOT;
    const autoScaling = { minAgents: 2, maxAgents: 12 };
    await Promise.all([
      service.deploy({ name: "echo", files, autoScaling }),
      service.deploy({
        name: "open",
        files,
        websocketAuth: "none",
        autoScaling: { minAgents: 1, maxAgents: 8 },
      }),
      deployBroken(),
    ]);
    const { url, sessionId } = await prepareCall(service, "echo", {
      body: { say: ["the long call begins"] },
    });
    const socket = await openSocket(url);
    long = { sessionId, socket, stopTalking: keepTalking(socket) };
  });
  after(async () => {
    freePeerClients();
    await service[Symbol.asyncDispose]();
  });

  async function deployBroken(): Promise<void> {
    const buildId = await service.build({ "bot.ts": BROKEN_BOT });
    await service.api.agents.create({ serviceName: "broken", buildId });
  }

  test("the controller comes before bots, and nothing else does", { skip: !mayComeFirst() }, () => {
    const nice = (pid: number) => getPriority(pid);
    const [instance] = service.instancePids();
    assert.equal(nice(service.pid("controller")), nice(process.pid) - 5);
    assert.equal(nice(service.pid("gateway")), nice(process.pid));
    assert.equal(nice(instance!), nice(process.pid));
  });

  test("instances count for as many programs as have a session", async (context) => {
    const programs = programsCounted(service.instancePids()[0]!);
    if (!programs) return context.skip("this machine lets us make no control groups");
    const count = (expected: number) => until(() => programs() === expected, 10_000, `weight of ${expected}`);
    await count(1); // the long call
    const { url } = await prepareCall(service, "echo");
    const { socket } = await openSocket(url);
    await count(2);
    socket.close();
    await count(1);
  });

  test("what waits has started what the last session needed", { skip: !existsSync("/proc") }, async () => {
    const waiting = () =>
      service.rows<{ id: string }>(
        `SELECT id FROM instances WHERE state = 'ready' AND session_id IS NULL
         AND agent_id = (SELECT id FROM agents WHERE name = 'echo')`,
      );
    await until(
      () => waiting().some(({ id }) => threadsOf(id).includes("WorkerThread")),
      20_000,
      "an instance with a thread for sockets",
    );
  });

  function threadsOf(instanceId: string): string[] {
    const file = join(service.dataFolder, "instances", instanceId, "process.json");
    const { pid } = JSON.parse(readFileSync(file, "utf8")) as { pid: number };
    return globSync(`/proc/${pid}/task/*/comm`).map((name) => readIfThere(name).trim());
  }

  const rowOf = (sessionId: string) =>
    service.rows<{ state: string; transport: string }>("SELECT * FROM sessions WHERE id = ?", sessionId)[0];

  const inSession = (sessionId: string, path: string, agent = "echo") =>
    fetch(`${service.apiUrl}/public/${agent}/sessions/${sessionId}${path}`, {
      headers: { authorization: `Bearer ${service.publicKey}` },
    });

  async function refusal(answer: Response | Promise<Response>): Promise<[number, string | undefined]> {
    const refused = await answer;
    const body = (await refused.json()) as { error?: string; code?: string; detail?: unknown };
    assert.ok(body.error, "says what is wrong");
    if (refused.url.includes("/public/")) assert.ok(body.detail, "in the words released clients read");
    return [refused.status, body.code];
  }

  test("WebRTC: caller and bot hear each other", async () => {
    const answer = await start(service, "echo", { transport: "webrtc", enableDefaultIceServers: true });
    const { sessionId, iceConfig } = (await answer.json()) as { sessionId: string; iceConfig: object };
    assert.ok(iceConfig);
    using peer = await callBot({
      port: Number(new URL(service.apiUrl).port),
      path: `/v1/public/echo/sessions/${sessionId}/api/offer`,
      headers: { authorization: `Bearer ${service.publicKey}` },
    });
    await peer.speak(100, "tone");
    await until(() => peer.heard.voiced >= 50, 10_000, "own voice back");
    assert.equal((await inSession(sessionId, "/hello")).status, 200);
    peer.close();
    assert.equal(await service.sessionEnded(sessionId), "client-left");
  });

  test("WebSocket: caller and bot hear each other, and the start body arrives", async () => {
    const { url, sessionId } = await prepareCall(service, "echo", { body: { order: 42 } });
    assert.equal(rowOf(sessionId)?.state, "pending");
    using socket = await openSocket(url);
    const stop = keepTalking(socket);
    await until(() => socket.heardMs >= 1_000 && socket.peak > 5_000, 15_000, "own voice back");
    assert.deepEqual(await (await inSession(sessionId, "/body")).json(), { order: 42 });
    await stop();
    socket.socket.close();
    assert.equal(await service.sessionEnded(sessionId), "client-left");
  });

  test("a token is good for one socket, the first", async () => {
    const { url, sessionId } = await prepareCall(service, "echo");
    const before = service.rows("SELECT id FROM sessions").length;
    const upgrades = await Promise.all(Array.from({ length: 50 }, () => tryUpgrade(url)));
    const statuses = upgrades.map(({ status }) => status);
    assert.deepEqual(
      [
        statuses.filter((status) => status === 101).length,
        statuses.filter((status) => status === 403).length,
      ],
      [1, 49],
    );
    assert.equal(service.rows("SELECT id FROM sessions").length, before);
    assert.equal(rowOf(sessionId)?.state, "active");
    for (const { client } of upgrades) client?.socket.close();
    await service.sessionEnded(sessionId);
    assert.equal((await tryUpgrade(url)).status, 403, "and not later either");
  });

  test("foreign, expired and invented tokens are refused", async () => {
    const { token, wsUrl } = await prepareCall(service, "echo");
    const counted = service.rows("SELECT id FROM sessions").length;
    const openUrl = wsUrl.replace("/echo.", "/open.");
    const bit = token.at(-3) === "A" ? "B" : "A";
    for (const url of [
      wsUrl,
      `${wsUrl}?token=nonsense`,
      `${wsUrl}?token=${token.slice(0, -3)}${bit}${token.slice(-2)}`,
      `${openUrl}?token=${token}`,
    ])
      assert.equal((await tryUpgrade(url)).status, 403, url);
    assert.equal(service.rows("SELECT id FROM sessions").length, counted);
    using byHeader = await openSocket(wsUrl, { authorization: `Bearer ${token}` });
    byHeader.socket.close();
  });

  // Side by side: calls take their time, not the machine's.
  describe("on the telephone", { concurrency: 3 }, () => {
    // The runner proves each carrier; the service passes frames on without looking.
    for (const name of carrierNames.slice(0, size(1, carrierNames.length)))
      test(`${name}: a telephone call with a token`, async () => {
        const { wsUrl, token, sessionId } = await prepareCall(service, "echo", {
          body: { from: name },
          transport: name,
        });
        await talkOnThePhone({ name, url: `${wsUrl}/${token}`, sessionId });
      });

    test("twilio: the agent is named by a parameter, the token stands in the path", async () => {
      const { wsUrl, token, sessionId } = await prepareCall(service, "echo", { transport: "twilio" });
      const parameters = { _serviceHost: `echo.${service.organization}` };
      await talkOnThePhone({ name: "twilio", url: `${wsUrl}/${token}`, sessionId, parameters });
    });

    test("twilio: an agent without tokens needs the parameter only, of either name", async () => {
      const url = `${service.apiUrl.replace(/^http/, "ws").replace(/\/v1$/, "")}/ws/twilio`;
      const parameters = { _pipecatCloudServiceHost: `open.${service.organization}` };
      await talkOnThePhone({ name: "twilio", url, parameters });
    });

    test("the address of a start leads to an agent without tokens", async () => {
      const { wsUrl } = await prepareCall(service, "open", { transport: "twilio" });
      await talkOnThePhone({ name: "twilio", url: wsUrl });
    });
  });

  async function talkOnThePhone(options: {
    name: (typeof carrierNames)[number];
    url: string;
    sessionId?: string;
    parameters?: Record<string, string>;
  }): Promise<void> {
    const { name, url, parameters = {} } = options;
    const call = dial({
      carrier: { name },
      url,
      parameters,
      sentences: [SPEECH],
      hangUpAfterAnswerMs: 400,
      line: { maxCallMs: 30_000 },
    });
    const { outcome, summary, heard } = await call.ended();
    assert.deepEqual(outcome, { type: "hung-up", by: "caller", reason: "asked" });
    assert.deepEqual(summary.violations, []);
    assert.ok(!isQuiet(heard, 0, 20_000), "the bot was heard");
    if (options.sessionId === undefined) return;
    assert.equal(await service.sessionEnded(options.sessionId), "client-left");
    assert.equal(rowOf(options.sessionId)?.transport, name);
  }

  test("without tokens: any client may connect, and bring a body", async () => {
    const { wsUrl, token } = await prepareCall(service, "open");
    assert.equal(token, "");
    const body = Buffer.from(JSON.stringify({ say: ["body by address"] })).toString("base64");
    using socket = await openSocket(`${wsUrl}?body=${encodeURIComponent(body)}`);
    assert.equal(socket.socket.readyState, WebSocket.OPEN);
    const found = await logged("open", { query: "body by address" });
    assert.equal(found.length, 1);
    assert.equal((await tryUpgrade(`${wsUrl}?body=%%%`)).status, 400);
    const large = Buffer.from(JSON.stringify("x".repeat(5_000))).toString("base64");
    assert.equal((await tryUpgrade(`${wsUrl}?body=${encodeURIComponent(large)}`)).status, 413);
  });

  test("without tokens: a start's body is kept for one connection, as at the runner", async () => {
    const body = { say: ["body by start"] };
    const started = await start(service, "open", { transport: "websocket", body });
    const { wsUrl, ...rest } = (await started.json()) as { wsUrl: string };
    assert.deepEqual([started.status, rest], [200, {}], "one address, which every released client takes");
    using socket = await openSocket(wsUrl);
    const sessionId = started.headers.get("x-vocalhost-session-id")!;
    assert.equal((await logged("open", { query: "body by start", sessionId })).length, 1);
    assert.equal((await tryUpgrade(wsUrl)).status, 403, "good for one connection");
    socket.socket.close();
    await service.sessionEnded(sessionId);

    const call = await start(service, "open", { transport: "twilio", body });
    const answer = (await call.json()) as { wsUrl: string; sessionId: string };
    assert.deepEqual(Object.keys(answer).toSorted(), ["sessionId", "wsUrl"]);
    await talkOnThePhone({ name: "twilio", url: answer.wsUrl, sessionId: answer.sessionId });
    assert.equal((await logged("open", { query: "body by start", sessionId: answer.sessionId })).length, 1);
  });

  test("a bot's own routes are reached through its session, by request and by WebSocket", async () => {
    const hello = await inSession(long.sessionId, "/hello");
    assert.equal(((await hello.json()) as { sessionId: string }).sessionId, long.sessionId);
    const url = `${service.apiUrl.replace(/^http/, "ws")}/public/echo/sessions/${long.sessionId}/hello-socket`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${service.publicKey}` } });
    await once(socket, "open");
    socket.send("there");
    const [data] = (await within(once(socket, "message"), 5_000, "answer")) as [Buffer];
    assert.equal(data.toString(), `${long.sessionId}: there`);
    socket.close();
    assert.equal((await tryUpgrade(url)).status, 401);
    assert.equal((await inSession(long.sessionId, "/instance")).status, 404);
  });

  test("an idempotency key starts one session", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        start(service, "echo", { transport: "webrtc", body: { n: 1 }, headers }),
      ),
    );
    const ids = await Promise.all(
      answers.map(async (answer) => ((await answer.json()) as { sessionId: string }).sessionId),
    );
    assert.equal(new Set(ids).size, 1);
    assert.deepEqual(
      await refusal(start(service, "echo", { transport: "webrtc", body: { n: 2 }, headers })),
      [409, "CONFLICT"],
    );
    await service.api.sessions.stop("echo", ids[0]!);
    assert.equal(await service.sessionEnded(ids[0]!), "stopped");
    assert.equal((await inSession(ids[0]!, "/hello")).status, 404);
  });

  test("an idempotency key waits for one socket", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const options = { transport: "websocket", body: { n: 1 }, headers };
    const answers = await Promise.all(Array.from({ length: 4 }, () => start(service, "echo", options)));
    const ids = answers.map((answer) => answer.headers.get("x-vocalhost-session-id") ?? "");
    assert.deepEqual([new Set(ids).size, rowOf(ids[0]!)?.state], [1, "pending"]);
    assert.deepEqual(await refusal(start(service, "echo", { ...options, body: { n: 2 } })), [
      409,
      "CONFLICT",
    ]);
    const [first, second] = (await Promise.all(answers.map((answer) => answer.json()))) as {
      wsUrl: string;
      token: string;
    }[];
    using socket = await openSocket(`${first!.wsUrl}?token=${first!.token}`);
    assert.equal((await tryUpgrade(`${second!.wsUrl}?token=${second!.token}`)).status, 403);
    socket.socket.close();
    assert.equal(await service.sessionEnded(ids[0]!), "client-left");
  });

  test("stopping closes the caller's socket, and once is enough", async () => {
    const { url, sessionId } = await prepareCall(service, "echo");
    using socket = await openSocket(url);
    assert.deepEqual(await service.api.sessions.stop("echo", sessionId), {
      status: "terminated",
      session_id: sessionId,
    });
    await socket.closed();
    assert.equal(await service.sessionEnded(sessionId), "stopped");
    await assert.rejects(service.api.sessions.stop("echo", sessionId), { status: 404 });
  });

  test("bodies above the limit start nothing", async () => {
    const counted = service.rows("SELECT id FROM sessions").length;
    const text = (bytes: number) => "x".repeat(bytes);
    for (const [transport, bytes] of [
      ["websocket", 4_200],
      ["twilio", 4_200],
      ["webrtc", 1_100_000],
    ] as const)
      assert.deepEqual(
        await refusal(start(service, "echo", { transport, body: { text: text(bytes) } })),
        [413, "PAYLOAD_TOO_LARGE"],
        transport,
      );
    assert.equal(service.rows("SELECT id FROM sessions").length, counted);
  });

  test("what does not exist, is foreign or is not ready", async () => {
    const stranger = addOrganization(service, "strangers");
    const asStranger = { authorization: `Bearer ${stranger.publicKey}` };
    const sessionUrl = `${service.apiUrl}/public/echo/sessions/${long.sessionId}/hello`;
    assert.deepEqual(await refusal(start(service, "nobody", {})), [404, "NOT_FOUND"]);
    assert.deepEqual(await refusal(start(service, "echo", { key: stranger.publicKey })), [404, "NOT_FOUND"]);
    assert.deepEqual(await refusal(inSession(randomUUID(), "/hello")), [404, "NOT_FOUND"]);
    assert.deepEqual(await refusal(inSession(long.sessionId, "/hello", "open")), [404, "NOT_FOUND"]);
    assert.deepEqual(await refusal(fetch(sessionUrl, { headers: asStranger })), [404, "NOT_FOUND"]);
    for (const path of ["", "/logs", "/sessions", `/sessions/${long.sessionId}`, "/deployments"]) {
      const headers = { authorization: `Bearer ${stranger.privateKey}` };
      const [status] = await refusal(fetch(`${service.apiUrl}/agents/echo${path}`, { headers }));
      assert.equal(status, 404, path);
    }
    const bare = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    const startUrl = `${service.apiUrl}/public/echo/start`;
    assert.deepEqual(await refusal(fetch(startUrl, bare)), [401, "AGENT-1002"]);
    const wrong = start(service, "echo", { key: `pk_${"0".repeat(36)}` });
    assert.deepEqual(await refusal(wrong), [401, "UNAUTHORIZED"]);
    const [status] = await refusal(start(service, "echo", { key: service.privateKey }));
    assert.ok(status === 401 || status === 403, `a private key starts nothing: ${status}`);
    assert.deepEqual(await refusal(start(service, "broken", {})), [400, "AGENT-1001"]);
    assert.deepEqual(await refusal(start(service, "broken", { transport: "websocket" })), [
      400,
      "AGENT-1001",
    ]);
    const errors = await until(
      async () => {
        const told = (await service.api.agents.get("broken")).errors ?? [];
        return told.length > 0 && told;
      },
      20_000,
      "errors of the broken agent",
    );
    assert.match(JSON.stringify(errors), /no credentials for the model/);
  });

  test("a live log follows what is printed", async () => {
    const ending = new AbortController();
    const { url, sessionId } = await prepareCall(service, "echo", {
      body: { say: ["first words", "last words"] },
    });
    const tail = service.api.agents.tailLogs("echo", { sessionId, signal: ending.signal });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { line } of tail) {
        assert.equal(line.sessionId, sessionId);
        seen.push(line.log);
      }
    })().catch(() => undefined);
    using socket = await openSocket(url);
    await until(() => seen.some((line) => line.includes("last words")), 10_000, "live lines");
    assert.ok(seen.some((line) => line.includes("first words")));
    ending.abort();
    socket.socket.close();
    await within(reading, 5_000, "end of the live log");
  });

  async function logged(agent: string, query: { query?: string; sessionId?: string }) {
    return until(
      async () => {
        const { logs } = await service.api.agents.logs(agent, { ...query, limit: 100 });
        return logs.length > 0 && logs;
      },
      10_000,
      "log lines",
    );
  }

  test("logs are found by text and by session", async () => {
    const query = "the long call begins";
    const [line, ...others] = await logged("echo", { query });
    assert.deepEqual(others, []);
    assert.match(line?.timestamp ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
    assert.deepEqual(await logged("echo", { query, sessionId: long.sessionId }), [line]);
    const ofNobody = await service.api.agents.logs("echo", { query, sessionId: randomUUID() });
    assert.equal(ofNobody.total.value, 0);
    const { total } = await service.api.agents.logs("echo", { query: "nobody has said this" });
    assert.deepEqual(total, { value: 0, relation: "eq" });
  });

  test("a session's record tells its start, its steps and what it used", async () => {
    const sampled = await until(
      async () => {
        const { resourceMetrics } = await service.api.sessions.get("echo", long.sessionId);
        return resourceMetrics !== null && resourceMetrics.sampleCount > 0 && resourceMetrics;
      },
      20_000,
      "resource samples",
    );
    assert.ok(sampled.memoryBytesP50 > 10_000_000 && sampled.cpuMillicoresP99 > 0, JSON.stringify(sampled));
    assert.equal(sampled.timeseries.length, sampled.sampleCount);
    const { sessions: active } = await service.api.sessions.list("echo", { status: "active", limit: 1_000 });
    assert.ok(active.some(({ sessionId }) => sessionId === long.sessionId));
    await until(
      async () =>
        (await service.api.sessions.get("echo", long.sessionId)).timeline.firstAudioMs !== undefined,
      20_000,
      "steps of a session that still runs",
    );
    await long.stopTalking();
    long.socket.socket.close();
    await service.sessionEnded(long.sessionId);
    const ended = await service.api.sessions.get("echo", long.sessionId);
    assert.equal(ended.status, "ended");
    assert.equal(ended.completionStatus, "WS_CONNECTION_CLOSED");
    assert.equal(ended.coldStart, false);
    assert.ok(ended.botStartSeconds !== null && ended.botStartSeconds < 5, `${ended.botStartSeconds}`);
    const { timeline } = ended;
    for (const step of ["startMs", "clientConnectedMs", "botEnteredMs", "firstAudioMs"] as const)
      assert.equal(typeof timeline[step], "number", `${step} in ${JSON.stringify(timeline)}`);
    assert.equal(timeline.bootMs, undefined, "a warm start boots nothing");
    const { sessions, total_count } = await service.api.sessions.list("echo", { limit: 1_000 });
    assert.equal(total_count, sessions.length);
    assert.ok(sessions.some(({ sessionId }) => sessionId === long.sessionId));
  });

  test("nothing was complained about but what was wrong", () => {
    const problems = service
      .output()
      .split("\n")
      .filter((line) => /"level":[56]0/.test(line));
    assert.deepEqual(problems, []);
  });
});

function mayComeFirst(): boolean {
  const own = getPriority();
  try {
    setPriority(own - 1);
  } catch {
    return false;
  }
  setPriority(own);
  return true;
}
