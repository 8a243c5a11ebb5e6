// Every command that asks the service, as a user sees it: what it prints, and how it ends.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { startTranscript, type Transcript } from "./transcript.ts";
import {
  openCommandLines,
  startVocalhost,
  vocalhost,
  type CommandLines,
  type Desk,
  type Finished,
} from "./vocalhost-process.ts";

const BOT = `
import { createTransport } from "vocalhost";
console.log("the bot was loaded");
export async function bot(args) {
  const transport = await createTransport(args);
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}
`;
const BROKEN_BOT = `throw new Error("I cannot start");\nexport async function bot() {}\n`;
const FAILING_BOT = `export async function bot() { throw new Error("I do not answer"); }\n`;
const TOML = `agent_name = "my-bot"\n\n[scaling]\nmin_agents = 1\nmax_agents = 3\n`;
const NO_ID = "00000000-0000-4000-8000-000000000000";

describe("operating the service", () => {
  const root = mkdtempSync(join(tmpdir(), "vocalhost-operate-"));
  const desk: Desk = { folder: join(root, "bot"), environment: { XDG_CONFIG_HOME: join(root, "config") } };
  const nobody: Desk = {
    folder: desk.folder,
    environment: { XDG_CONFIG_HOME: join(root, "empty"), VOCALHOST_API_URL: "http://localhost:1" },
  };
  let service: ServiceProcess;
  let serviceUrl: string;
  let lines: CommandLines;
  let linesOfNobody: CommandLines;

  before(async () => {
    mkdirSync(join(root, "broken"), { recursive: true });
    mkdirSync(desk.folder, { recursive: true });
    writeFileSync(join(desk.folder, "bot.ts"), BOT);
    writeFileSync(join(desk.folder, "vocalhost.toml"), TOML);
    writeFileSync(join(root, "broken/bot.ts"), BROKEN_BOT);
    mkdirSync(join(root, "failing"));
    writeFileSync(join(root, "failing/bot.ts"), FAILING_BOT);
    service = await startServiceProcess({
      timing: { crashBackoffMs: [0], crashesToFail: 2, reconcileMs: 200 },
    });
    serviceUrl = service.apiUrl.replace(/\/v1$/, "");
    lines = openCommandLines(desk);
    linesOfNobody = openCommandLines(nobody);
  });
  after(async () => {
    await linesOfNobody[Symbol.asyncDispose]();
    await lines[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
    rmSync(root, { recursive: true, force: true });
  });

  const transcript = (from = { desk, lines }): Transcript => startTranscript(from, [[root, "<root>"]]);

  function snapshot(context: TestContext, { text }: Transcript): void {
    context.assert.snapshot(text(), { serializers: [(value: string) => value] });
  }

  async function json<T>(line: string, exitCode = 0): Promise<T> {
    const finished = await lines.run([...line.split(" "), "--json", "--yes"]);
    assert.equal(finished.exitCode, exitCode, finished.output + finished.errors);
    return parsed(finished) as T;
  }

  test("without anybody signed in", async (t) => {
    const seen = transcript({ desk: nobody, lines: linesOfNobody });
    await seen.run("agent list");
    await seen.run("auth whoami");
    await seen.run("auth logout");
    await seen.run("config show");
    await seen.run("agent start");
    snapshot(t, seen);
  });

  test("signing in with a key", async (t) => {
    const seen = transcript();
    await seen.run(`auth login --api-key --url ${serviceUrl}`, service.publicKey);
    await seen.run(`auth login --api-key --url ${serviceUrl}`, "what is this");
    await seen.run(`auth login --api-key --url ${serviceUrl}`, `sk_${"A".repeat(36)}`);
    await seen.run(`auth login --api-key --url nonsense`, service.privateKey);
    await seen.run(`auth login --api-key --url ${serviceUrl}`, `${service.privateKey}\n`);
    await seen.run("auth whoami");
    await seen.run("config show");
    const file = join(root, "config/vocalhost/credentials.json");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    snapshot(t, seen);
    writeFileSync(file, "{");
    assert.match((await vocalhost(desk, ["agent", "list"])).errors, /Sign in again/);
    const again = ["auth", "login", "--api-key", "--url", serviceUrl];
    assert.equal((await vocalhost(desk, again, service.privateKey)).exitCode, 0);
  });

  test("signing in with a browser", async () => {
    const other: Desk = { ...desk, environment: { XDG_CONFIG_HOME: join(root, "person") } };
    await using login = startVocalhost(other, ["auth", "login", "--url", serviceUrl]);
    const [, code = ""] = await login.printed(/To sign in, open \S+\/device\?user_code=(\w+)/);
    const cookie = await signUp(service);
    const headers = { cookie, origin: serviceUrl, "content-type": "application/json" };
    await fetch(`${serviceUrl}/auth/device?user_code=${code}`, { headers });
    const body = JSON.stringify({ userCode: code });
    const approved = await fetch(`${serviceUrl}/auth/device/approve`, { method: "POST", headers, body });
    assert.equal(approved.status, 200);
    await login.printed(/Signed in to \S+ as a member of main\./);
    const who = parsed(await vocalhost(other, ["auth", "whoami", "--json"])) as {
      email: string;
      method: string;
    };
    assert.deepEqual([who.email, who.method], ["ada@example.com", "browser"]);
    assert.equal((await vocalhost(other, ["agent", "list", "--json"])).exitCode, 0);
    assert.match((await vocalhost(other, ["auth", "logout"])).output, /^Signed out\./);
    assert.equal((await vocalhost(other, ["agent", "list"])).exitCode, 1);
  });

  test("a sign-in that is given up leaves things as they were", async () => {
    await using login = startVocalhost(desk, ["auth", "login"]);
    await login.printed(/check that it shows the code/);
    assert.equal(await login.end("SIGINT"), 130);
    assert.match(login.output(), /Interrupted\. Your sign-in has not changed\./);
    assert.equal((await vocalhost(desk, ["auth", "whoami"])).exitCode, 0);
  });

  test("secrets", async (t) => {
    const seen = transcript();
    writeFileSync(join(root, "secrets.txt"), '# mine\nMODEL_KEY="abc def"\nGREETING=hello=world\n');
    writeFileSync(join(root, "wrong.txt"), "FINE=1\nsecret without equals\n");
    await seen.run("secrets list");
    await seen.run(`secrets set my-secrets --file ${join(root, "secrets.txt")}`);
    await seen.run("secrets set my-secrets GREETING=bye");
    await seen.run("secrets set my-secrets GREETING=bye --yes");
    await seen.run("secrets set my-secrets");
    await seen.run(`secrets set my-secrets --file ${join(root, "wrong.txt")}`);
    await seen.run("secrets set My_Secrets A=1");
    await seen.run("secrets list my-secrets");
    await seen.run("secrets list nothing");
    await seen.run("secrets unset my-secrets GREETING");
    await seen.run("secrets unset my-secrets GREETING --yes");
    await seen.run("secrets unset my-secrets GREETING --yes");
    await seen.run("secrets image-pull-secret my-registry registry.example.com");
    await seen.run("secrets image-pull-secret my-registry registry.example.com user:token");
    await seen.run("secrets list");
    await seen.run("secrets delete my-registry --yes");
    await seen.run("secrets delete my-registry --yes");
    snapshot(t, seen);
    const { sets } = await json<{ sets: { name: string }[] }>("secrets list");
    assert.deepEqual(
      sets.map(({ name }) => name),
      ["my-secrets"],
    );
  });

  test("deploying", async (t) => {
    const seen = transcript();
    await seen.run("deploy --dry-run --secrets nothing");
    await seen.run("deploy --dry-run --region eu-nowhere");
    await seen.run("deploy --min-agents 4");
    await seen.run("deploy --profile huge");
    await seen.run("deploy my-bot no-image");
    await seen.run("deploy Wrong_Name");
    await seen.run(`deploy --build-id ${NO_ID} --yes`);
    await seen.run("deploy --build-dir /nowhere");
    await seen.run("deploy");
    await seen.run("deploy --dry-run");
    await seen.run("deploy --yes --secrets my-secrets");
    await seen.run("deploy");
    await seen.run("deploy --yes --max-agents 4");
    await seen.run(
      "deploy --yes --vendor-viva-audio-filter tel --max-session-duration 600 --profile agent-2x",
    );
    await seen.run("deploy --dry-run --vendor-viva-audio-filter none --websocket-auth none");
    snapshot(t, seen);
  });

  test("a redeploy keeps what it does not name", async () => {
    writeFileSync(join(desk.folder, "vocalhost.toml"), 'agent_name = "my-bot"\n');
    await json("deploy --force");
    const { agent } = await json<{ agent: AgentShown }>("agent status");
    writeFileSync(join(desk.folder, "vocalhost.toml"), TOML);
    assert.deepEqual(
      [agent.autoScaling, agent.vendorViva, agent.agentProfile],
      [{ minReplicas: 1, maxReplicas: 3 }, { audioFilter: "tel" }, "agent-2x"],
    );
    assert.deepEqual(agent.deployment.manifest.spec.envFromSecretNames, ["my-secrets"]);
  });

  test("a deployment that fails says why and what goes on", async () => {
    const first = await lines.run(["deploy", "broken", "--build-dir", join(root, "broken"), "--yes"]);
    assert.equal(first.exitCode, 1);
    assert.match(first.errors, /I cannot start/);
    const later = await lines.run(["deploy", "--build-dir", join(root, "broken"), "--yes"]);
    assert.equal(later.exitCode, 1);
    assert.match(later.errors, /Deployment [0-9a-f]{8} of 'my-bot' failed[^]*is still serving/);
    const { problem } = await json<{ problem: { code: string } }>(
      `deploy --build-dir ${join(root, "broken")} --force`,
      1,
    );
    assert.equal(problem.code, "deployment_failed");
    const { agent } = await json<{ agent: AgentShown }>("agent status");
    assert.equal(agent.available, true);
    assert.match((await lines.run(["agent", "status", "broken"])).output, /unavailable[^]*I cannot start/);
    await json("agent rollback");
  });

  test("agents and sessions", async (t) => {
    const seen = transcript();
    await seen.run("agent start --yes");
    await seen.run("keys create --default");
    await seen.run("agent start");
    await seen.run("agent start nobody --yes");
    await seen.run("agent start --yes --data {wrong");
    await seen.run('agent start --yes --data "{}"');
    await seen.run("agent start --yes -t telnyx");
    await seen.run("agent status nobody");
    await seen.run("agent stop --yes");
    await seen.run(`agent stop --yes --session-id ${NO_ID}`);
    const { sessions } = await json<{ sessions: SessionShown[] }>("agent sessions --status active");
    const { sessionId = "" } = sessions.find(({ transport }) => transport === "webrtc") ?? {};
    await seen.run(`agent stop --session-id ${sessionId}`);
    await seen.run(`agent stop --session-id ${sessionId.slice(0, 8)} --yes`);
    await seen.run("agent stop --session-id ffffffff --yes");
    await seen.run(`agent sessions --id ${NO_ID}`);
    await seen.run("agent sessions nobody");
    await seen.run("agent rollback --to ffffffff --yes");
    await seen.run("agent rollback broken --yes");
    await seen.run("agent deployments nobody");
    await seen.run("agent delete nobody --yes");
    await seen.run("agent delete broken");
    await seen.run("agent delete broken --yes");
    snapshot(t, seen);
    await service.sessionEnded(sessionId);
    const table = (await lines.run(["agent", "sessions"])).output;
    assert.match(table, /^Session +Status +Transport +Began +Length +Bot after +Start +End\n/);
    assert.match(table, new RegExp(`^${sessionId.slice(0, 8)} +ended +webrtc`, "m"));
    assert.match(
      (await lines.run(["agent", "sessions", "--id", sessionId.slice(0, 8)])).output,
      /^Session +\S+\nStatus +ended/,
    );
    assert.match(
      (await lines.run(["agent", "list"])).output,
      /^Name[^\n]*\nmy-bot +ready +0 +1–3 +this-machine/,
    );
    assert.match((await lines.run(["agent", "status"])).output, /^Agent +my-bot\nState +ready/);
    assert.match(
      (await lines.run(["agent", "deployments"])).output,
      /^Deployment +Phase +Source +Profile +Filter +Secrets +Created\n/,
    );
  });

  test("calling an agent", async () => {
    const answered = await json<{ sessionId: string; summary: { firstAudioMs?: number } }>(
      "call my-bot --expect-audio --hang-up-after 3s",
    );
    const { session } = await json<{ session: SessionShown }>(`agent sessions --id ${answered.sessionId}`);
    assert.equal(session.transport, "twilio");
    await json(`deploy failing --build-dir ${join(root, "failing")} --min-agents 0`);
    const failing = await vocalhost(desk, ["call", "failing", "--hang-up-after", "3s"]);
    assert.equal(failing.exitCode, 1);
    assert.match(
      failing.errors,
      /The bot of 'failing' failed during the call[^]*vocalhost logs failing --session-id [0-9a-f]{8}/,
    );
    const refused = await vocalhost(desk, ["call", "my-bot", "--api-key", `pk_${"A".repeat(36)}`]);
    assert.equal(refused.exitCode, 1);
    assert.match(refused.errors, /No call to 'my-bot' could be started/);
    assert.match((await vocalhost(desk, ["call", "nobody"])).errors, /There is no agent 'nobody'/);
    assert.equal((await vocalhost(desk, ["call", "my-bot", "--to", "ws://localhost:1/ws"])).exitCode, 2);
    await json("agent delete failing");
  });

  test("logs, builds, keys, regions, usage", async (t) => {
    const seen = transcript();
    await seen.run("logs nobody");
    await seen.run("logs --search no-such-text");
    await seen.run("logs --limit 0");
    await seen.run("build list --status timeout");
    await seen.run(`build logs ${NO_ID}`);
    const { builds } = await json<{ builds: { id: string }[] }>("build list");
    await seen.run(`build logs ${builds.at(-1)?.id.slice(0, 8)}`);
    await seen.run("keys create");
    await seen.run("keys create --name site --agent my-bot --rate-per-minute 60 --expires 2031-01-31");
    await seen.run("keys create --name x --expires never");
    await seen.run("keys create --type private --default");
    const keys = await json<{ public: { id: string; metadata: { name: string } }[] }>("keys list");
    const id = keys.public.find(({ metadata }) => metadata.name === "site")?.id;
    await seen.run(`keys revoke ${id}`);
    await seen.run(`keys revoke ${id?.slice(0, 8)} --yes`);
    await seen.run(`keys revoke ${NO_ID} --yes`);
    await seen.run("regions list");
    await seen.run("usage --month 2020-01");
    await seen.run("usage --month 2026-13");
    await seen.run("usage --csv --month 2020-01");
    snapshot(t, seen);
    assert.match((await lines.run(["keys", "list", "--all"])).output, /site +pk_….... +my-bot +– +revoked/);
    assert.match(
      (await lines.run(["build", "list"])).output,
      /^Build +Status +Region +Took +Upload +Created\n/,
    );
    assert.match(
      (await lines.run(["logs"])).output,
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z the bot was loaded$/m,
    );
    for (const line of (await lines.run(["logs", "--json"])).output.trim().split("\n")) JSON.parse(line);
  });

  test("doctor names the hop that fails", async () => {
    const fine = parsed(await vocalhost(desk, ["doctor", "--json"])) as Diagnosis;
    assert.deepEqual(
      stateOf(fine, ["address", "port", "gateway", "controller", "clock", "credentials"]),
      Array(6).fill("ok"),
    );
    const dead = await vocalhost(nobody, ["doctor"]);
    assert.equal(dead.exitCode, 1);
    assert.match(
      dead.output,
      /✗ port +No connection to port 1 of localhost[^]*→ Is the service running\?[^]*– gateway/,
    );
    assert.match(dead.output, /Something is broken: port\./);
    const wrongKey: Desk = { ...desk, environment: { ...desk.environment, VOCALHOST_API_KEY: "sk_wrong" } };
    const refused = parsed(await vocalhost(wrongKey, ["doctor", "--json"])) as Diagnosis;
    assert.deepEqual([refused.ok, ...stateOf(refused, ["clock", "credentials"])], [false, "ok", "failed"]);
    const webhook = parsed(await vocalhost(desk, ["doctor", "--json", "--webhook", serviceUrl])) as Diagnosis;
    assert.deepEqual(stateOf(webhook, ["carrier webhook"]), ["failed"]);
    writeFileSync(join(root, "vocalhost.toml"), "agent_nam = 1\n");
    const project = parsed(await vocalhost({ ...desk, folder: root }, ["doctor", "--json"])) as Diagnosis;
    assert.deepEqual(stateOf(project, ["project"]), ["failed"]);
  });

  test("a key from the environment wins, for pipelines", async () => {
    const pipeline: Desk = {
      folder: desk.folder,
      environment: {
        XDG_CONFIG_HOME: join(root, "empty"),
        VOCALHOST_API_URL: serviceUrl,
        VOCALHOST_API_KEY: service.privateKey,
        CI: "true",
      },
    };
    const who = parsed(await vocalhost(pipeline, ["auth", "whoami", "--json"])) as { source: string };
    assert.equal(who.source, "environment");
    const asked = await vocalhost(pipeline, ["agent", "delete", "my-bot"]);
    assert.deepEqual([asked.exitCode, /--yes/.test(asked.errors)], [2, true]);
  });

  test("every command has examples, and with --json says what is wrong as JSON", async () => {
    const commands = await leaves([[]]);
    assert.ok(commands.length > 30, commands.map((words) => words.join(" ")).join("\n"));
    const helps = await runAll(commands.map((words) => [...words, "--help"]));
    for (const [at, { output }] of helps.entries())
      assert.match(output, /\nExamples:\n {2}\S/, commands[at]?.join(" "));
    const strict = commands.filter(([first]) => first !== "dev"); // which takes options it does not know
    const wrongs = await runAll(strict.map((words) => [...words, "--json", "--no-such-option"]));
    for (const [at, wrong] of wrongs.entries()) {
      assert.equal(wrong.exitCode, 2, strict[at]?.join(" "));
      assert.equal((parsed(wrong) as { ok: boolean }).ok, false);
    }
  });

  async function runAll(all: string[][]): Promise<Finished[]> {
    const finished: Finished[] = [];
    for (const words of all) finished.push(await linesOfNobody.run(words));
    return finished;
  }

  /** Every command without commands of its own, at or below these. */
  async function leaves(above: string[][]): Promise<string[][]> {
    if (above.length === 0) return [];
    const helps = await runAll(above.map((words) => [...words, "--help"]));
    const below = helps.map(({ output }) => {
      const [, list] = output.split("\nCommands:\n");
      return list === undefined
        ? []
        : [...list.matchAll(/^ {2}([a-z-]+)(?: |$)/gm)].map(([, name = ""]) => name);
    });
    const own = above.filter((_, at) => below[at]?.length === 0);
    const next = above.flatMap((words, at) => (below[at] ?? []).map((name) => [...words, name]));
    return [...own, ...(await leaves(next))];
  }
});

interface AgentShown {
  available: boolean;
  autoScaling: object;
  vendorViva: object;
  agentProfile: string;
  deployment: { manifest: { spec: { envFromSecretNames?: string[] } } };
}

interface SessionShown {
  sessionId: string;
  transport: string;
}

interface Diagnosis {
  ok: boolean;
  hops: { name: string; state: string }[];
}

function stateOf({ hops }: Diagnosis, names: string[]): (string | undefined)[] {
  return names.map((name) => hops.find((hop) => hop.name === name)?.state);
}

function parsed({ output }: Finished): unknown {
  assert.doesNotMatch(output.trim(), /\n/);
  return JSON.parse(output);
}

/** Makes the owner; gives the cookie. */
async function signUp({ apiUrl, output }: ServiceProcess): Promise<string> {
  const origin = apiUrl.replace(/\/v1$/, "");
  const [, token] = /owner#(\S+)/.exec(output()) ?? [];
  const response = await fetch(`${origin}/owner`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({
      token,
      email: "ada@example.com",
      password: "a long enough password",
      name: "Ada",
    }),
  });
  assert.equal(response.status, 200);
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}
