import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { runProgram } from "../harness/program.ts";
import { startServiceProcess, type ServiceProcess } from "../harness/service-process.ts";
import { watchProcess } from "../harness/watched-process.ts";
import { nodeFlags, programOf } from "../../testing/programs.ts";
import { size } from "../../testing/sizes.ts";

const UP = programOf("control-plane", "main/up-main");
const REGIONS = { regions: [{ code: "this-machine", display_name: "This machine" }] };

interface FirstRun {
  apiUrl: string;
  dashboardUrl: string;
  privateKey: string;
  publicKey: string;
  ownerLink: string;
}

describe("the first start", () => {
  const dataFolder = join(mkdtempSync(join(tmpdir(), "vocalhost-first-")), "data");
  let service: ServiceProcess;
  let made: FirstRun;
  before(async () => {
    service = await startServiceProcess({ dataFolder, args: ["--example", "parrot=examples/parrot"] });
    made = JSON.parse(readFileSync(join(dataFolder, "first-run.json"), "utf8")) as FirstRun;
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    rmSync(join(dataFolder, ".."), { recursive: true, force: true });
  });

  test("shows addresses, keys and a command, and keeps them in a file", () => {
    const shown = service.output();
    const base = /^http:\/\/localhost:\d+$/;
    assert.match(made.dashboardUrl, base);
    assert.equal(made.apiUrl, `${made.dashboardUrl}/v1`);
    assert.match(made.privateKey, /^sk_[0-9A-Za-z]{36}$/);
    assert.match(made.publicKey, /^pk_[0-9A-Za-z]{36}$/);
    for (const text of [made.apiUrl, made.dashboardUrl, made.privateKey, made.publicKey])
      assert.ok(shown.includes(text), `${text} is shown`);
    assert.equal(modeOf(join(dataFolder, "first-run.json")), 0o600);
  });

  test("lets no other user look into its folder", () => {
    assert.equal(modeOf(dataFolder) & 0o066, 0); // passing through it is what users of bots may do
    for (const name of ["vocalhost.db", "master-keys", "controller.sock", "first-run.json"]) {
      if (!existsSync(join(dataFolder, name))) continue;
      assert.equal(modeOf(join(dataFolder, name)) & 0o077, 0, name);
    }
  });

  test("leads on to the conversation", () => {
    const [link = ""] = /^ {4}(http\S+)$/m.exec(service.output())?.slice(1) ?? [];
    assert.equal(link, made.ownerLink.replace("/owner#", "/owner?talk=parrot#"));
  });

  test("the command it shows starts a session", () => {
    const [command = ""] = /curl [\s\S]+?'\{.*\}'/.exec(service.output()) ?? [];
    const { stdout } = spawnSync("sh", ["-c", command.replace("curl", "curl -s")], { encoding: "utf8" });
    const { sessionId } = JSON.parse(stdout) as { sessionId: string };
    assert.match(sessionId, /^[0-9a-f-]{36}$/);
  });

  test("regions are listed as they are documented", async () => {
    const url = `${made.apiUrl}/regions`;
    const listed = await fetch(url, { headers: { authorization: `Bearer ${made.privateKey}` } });
    assert.equal(listed.status, 200);
    assert.deepEqual(await listed.json(), REGIONS);
    const refused = await fetch(url);
    assert.equal(refused.status, 401);
    const { error, code } = (await refused.json()) as { error: string; code: string };
    assert.deepEqual([error, code], ["Unauthorized", "UNAUTHORIZED"]);
  });

  test("a second start keeps everything and shows no keys", async () => {
    const ids = (await service.api.agents.list()).services.map(({ id }) => id);
    assert.equal(ids.length, 1);
    await service.stop();
    assert.equal(service.process.exitCode, 0);
    await using again = await startServiceProcess({ dataFolder });
    assert.deepEqual(
      (await again.api.agents.list()).services.map(({ id }) => id),
      ids,
    );
    assert.ok(again.output().includes(`Keys        in ${join(dataFolder, "first-run.json")}`));
    assert.doesNotMatch(again.output(), /[sp]k_[0-9A-Za-z]{36}/);
    assert.deepEqual(JSON.parse(readFileSync(join(dataFolder, "first-run.json"), "utf8")), made);
    await again.stop();
    assert.equal(again.process.exitCode, 0);
  });
});

describe("an example that does not get there", () => {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-example-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("one that cannot be deployed: the service runs, says so, and promises no conversation", async () => {
    const broken = join(folder, "broken");
    mkdirSync(broken);
    writeFileSync(join(broken, "package.json"), '{ "type": "module" }');
    await using service = await startServiceProcess({ args: ["--example", `parrot=${broken}`] });
    const shown = await service.printed(/Ctrl-C ends everything/).then(() => service.output());
    assert.match(shown, /"msg":"the example could not be deployed"/);
    assert.match(shown, /deploy a bot from its folder: npx vocalhost deploy/);
    assert.doesNotMatch(shown, /talk to 'parrot'|public\/parrot\/start/);
  });

  for (const step of size(["deploying"], ["building", "deploying"]))
    test(`ended while ${step} it: nothing more is said, and the next start goes on with it`, async () => {
      const [example, dataFolder] = [resolve("examples/parrot"), join(folder, step)];
      const start = () =>
        watchProcess(
          spawn(process.execPath, [...nodeFlags, UP, "--example", `parrot=${example}`], {
            env: { ...process.env, VOCALHOST_PORT: "0", VOCALHOST_DATA_DIR: dataFolder },
          }),
          "service",
        );
      await using ended = start();
      await ended.printed(new RegExp(`${step} parrot`));
      assert.equal(await ended.end("SIGTERM"), 0);
      assert.doesNotMatch(ended.output(), /could not be deployed|is running/);

      await using second = start();
      await second.printed(/talk to 'parrot'[\s\S]*Ctrl-C ends everything/);
      const { publicKey } = JSON.parse(readFileSync(join(dataFolder, "first-run.json"), "utf8")) as FirstRun;
      const [, startUrl = ""] = /curl -X POST (\S+)/.exec(second.output()) ?? [];
      const started = await fetch(startUrl, {
        method: "POST",
        headers: { authorization: `Bearer ${publicKey}`, "content-type": "application/json" },
        body: '{"transport":"websocket"}',
      });
      assert.equal(started.status, 200, await started.text());
      assert.equal(await second.end("SIGTERM"), 0);

      await using third = start();
      await third.printed(/Vocalhost is running/);
      assert.doesNotMatch(third.output(), /talk to 'parrot'|[sp]k_[0-9A-Za-z]{36}/);
      assert.equal(await third.end("SIGTERM"), 0);
    });
});

describe("a start that cannot be", { concurrency: 2 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-refused-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const start = (environment: Record<string, string>) =>
    runProgram(UP, { workingFolder: folder, environment: { VOCALHOST_DATA_DIR: folder, ...environment } });

  test("a port in use: one sentence says so", async () => {
    const server = createServer().listen(0, "localhost");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      const { code, output, errors } = await start({ VOCALHOST_PORT: String(port) });
      assert.notEqual(code, 0);
      const lines = `${output}\n${errors}`.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
      assert.deepEqual(lines, [
        `Port ${port} on localhost is in use. Stop the other program, or choose another port: VOCALHOST_PORT=${port + 1}`,
      ]);
    } finally {
      server.close();
    }
  });

  const refused = [
    ["PORT", "seventy", 'VOCALHOST_PORT must be a whole number from 0 to 65535, got "seventy"'],
    [
      "REGIONS",
      "Mars",
      'VOCALHOST_REGIONS must be regions such as eu-central=Frankfurt; eu-north=Stockholm, got "Mars"',
    ],
    ["ICE_SERVERS", "[", 'VOCALHOST_ICE_SERVERS must be JSON such as [{"urls":["stun:stun.example.com"]}]'],
    ["TIMING", '{"lunchMs":1}', 'VOCALHOST_TIMING has no duration "lunchMs", got "{"lunchMs":1}"'],
    [
      "TIMING",
      '{"heartbeatMs":"soon"}',
      'VOCALHOST_TIMING must be JSON such as {"heartbeatMs":5000}, got "{"heartbeatMs":"soon"}"',
    ],
    ["CONFIG", "/nowhere/at/all", "VOCALHOST_CONFIG: there is no file /nowhere/at/all"],
    [
      "PUBLIC_URL",
      "example",
      'VOCALHOST_PUBLIC_URL must be an address such as https://bots.example.com, got "example"',
    ],
    ["MASTER_KEYS", "short", /^VOCALHOST_MASTER_KEYS\b.+$/],
    ["DATABASE_URL", "mysql://localhost/x", /^VOCALHOST_DATABASE_URL\b.+$/],
  ] as const;
  // Configuration is tested beside its source; here some prove that a start says it so.
  for (const [name, value, sentence] of refused.slice(0, size(2, refused.length)))
    test(`VOCALHOST_${name}=${value}: one sentence says so`, async () => {
      const { code, errors } = await start({ VOCALHOST_PORT: "0", [`VOCALHOST_${name}`]: value });
      assert.notEqual(code, 0);
      const [told, ...rest] = errors.trim().split("\n");
      if (typeof sentence === "string") assert.equal(told, sentence);
      else assert.match(told ?? "", sentence);
      assert.deepEqual(rest, []);
    });
});

test("a second service on the same folder says who has it", async () => {
  await using first = await startServiceProcess({});
  const { code, errors } = await runProgram(UP, {
    workingFolder: first.dataFolder,
    environment: {
      VOCALHOST_PORT: "0",
      VOCALHOST_DATA_DIR: first.dataFolder,
      VOCALHOST_TIMING: JSON.stringify({ sharedFolderMs: 300 }),
    },
  });
  assert.notEqual(code, 0);
  const [, pid] = /is in use by another Vocalhost service: process (\d+) on /.exec(errors) ?? [];
  assert.equal(Number(pid), first.pid("controller"));
  assert.equal((await first.api.agents.list()).services.length, 0); // undisturbed
});

test("without a setting everything is kept outside of the folder one is in", async () => {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-project-"));
  const share = mkdtempSync(join(tmpdir(), "vocalhost-share-"));
  const { VOCALHOST_DATA_DIR: _folder, ...environment } = process.env;
  await using started = watchProcess(
    spawn(process.execPath, [...nodeFlags, UP], {
      cwd: folder,
      env: { ...environment, VOCALHOST_PORT: "0", XDG_DATA_HOME: share },
      stdio: ["ignore", "pipe", "pipe"],
    }),
    "service",
  );
  await started.printed(/Vocalhost is running/);
  assert.ok(existsSync(join(share, "vocalhost/first-run.json")));
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(await started.end(), 0);
  for (const each of [folder, share]) rmSync(each, { recursive: true, force: true });
});

test("settings can come from a file; the environment wins", async () => {
  const folder = mkdtempSync(join(tmpdir(), "vocalhost-settings-"));
  const file = join(folder, "settings");
  writeFileSync(
    file,
    `VOCALHOST_PORT=0\nVOCALHOST_DATA_DIR=${join(folder, "elsewhere")}\nVOCALHOST_REGIONS="eu-central=Europe"\n`,
  );
  const { VOCALHOST_PORT: _port, VOCALHOST_DATA_DIR: _folder, ...environment } = process.env;
  await using started = watchProcess(
    spawn(process.execPath, [...nodeFlags, UP], {
      cwd: folder,
      env: { ...environment, VOCALHOST_CONFIG: file, VOCALHOST_DATA_DIR: join(folder, "data") },
      stdio: ["ignore", "pipe", "pipe"],
    }),
    "service",
  );
  await started.printed(/Vocalhost is running/);
  const made = JSON.parse(readFileSync(join(folder, "data/first-run.json"), "utf8")) as FirstRun;
  assert.equal(existsSync(join(folder, "elsewhere")), false);
  const headers = { authorization: `Bearer ${made.privateKey}` };
  const listed = await fetch(`${made.apiUrl}/regions`, { headers });
  assert.deepEqual(await listed.json(), { regions: [{ code: "eu-central", display_name: "Europe" }] });
  assert.equal(await started.end(), 0);
  rmSync(folder, { recursive: true, force: true });
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}
