import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { encodeFrame, instanceVariables, parseFrame } from "@vocalhost/protocol";
import { WebSocket } from "ws";
import { requireRegistry } from "../packages/control-plane/src/builds/testing/require-registry.ts";
import {
  isOnlyForTests,
  readArchive,
  readManifest,
  requiredByManifest,
  type PackedPackage,
} from "./packed/packed-package.ts";
import { BUNDLED_PACKAGES } from "../scripts/bundle.ts";
import { lockOf } from "./packed/lock-of.ts";
import { isBuilt } from "../testing/programs.ts";
import { size } from "../testing/sizes.ts";
import { until } from "../testing/wait.ts";

// npm uses its cache, and retries a connection that stalls.
const NPM_SETTINGS = {
  npm_config_prefer_offline: "true",
  npm_config_fetch_timeout: "30000",
  npm_config_fetch_retries: "5",
  npm_config_fetch_retry_mintimeout: "1000",
};

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL("../", import.meta.url));
const PUBLISHED = [
  "carriers",
  "protocol",
  "audio",
  "simulator",
  "rooms",
  "viva",
  "images",
  "sdk",
  "livekit-agents",
  "control-plane",
  "cli",
  "create-vocalhost",
];
const COMMAND_LINE_MAX_KIB = 60 * 1024; // without Node
const START_DEADLINE_MS = 20_000;

const BOT = `
import { createTransport, createVoiceActivityDetector, type RunnerArguments } from "vocalhost";

export function prewarm(): void {
  createVoiceActivityDetector({ sampleRateHz: 16_000 }).free(); // needs the model that comes with the package
}

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  transport.rtvi.on("client-message", ({ data, respond }) => respond(data));
  // @ts-expect-error The published types know what a frame is.
  const wrong = (): boolean => transport.audioOut.write("hello");
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
  void wrong;
}

if (import.meta.main) await (await import("vocalhost/runner")).main();
`;

let temporary = "";
let archive = ""; // with all packages in it
let made = ""; // a project of `npm create vocalhost`
let installed = ""; // a folder with our packages
let project = ""; // an empty one in it
const packed = new Map<string, PackedPackage>();

before(async () => {
  temporary = mkdtempSync(join(tmpdir(), "packed-packages-"));
  if (!isBuilt) await run(process.execPath, [join(REPOSITORY, "scripts/build.ts")], { env: environment() });
  archive = await packAll();
  for (const [name, each] of await readArchive(archive, temporary)) packed.set(name, each);
});

after(() => rmSync(temporary, { recursive: true, force: true }));

for (const name of PUBLISHED)
  test(`${name} is packed with what was built and nothing of its tests`, () => {
    const paths = packed.get(name)?.files.map(({ path }) => path) ?? [];
    const manifest = readManifest(name);
    assert.deepEqual(
      requiredByManifest(manifest).filter((path) => !paths.includes(path)),
      [],
    );
    assert.deepEqual(paths.filter(isOnlyForTests), []);
    assert.deepEqual(
      paths.filter((path) => /(?:^|\/)src\/|\.map$|(?<!\.d)\.tsx?$|(?:^|\/)\.made-from$/.test(path)),
      [],
    );
  });

for (const name of PUBLISHED)
  test(`${name} tells the registry's readers what it is and where it comes from`, () => {
    const manifest = readManifest(name);
    const { description = "", keywords = [], homepage = "", bugs = "", repository } = manifest;
    assert.ok(description && keywords.length > 0 && homepage && bugs);
    assert.equal(repository?.directory, `packages/${name}`);
    const read = (path: string): string => readFileSync(join(REPOSITORY, path), "utf8");
    assert.equal(read(`packages/${name}/LICENSE`), read("LICENSE"));
    assert.ok(read(`packages/${name}/README.md`).startsWith(`# ${manifest.name}\n`));
  });

for (const name of BUNDLED_PACKAGES)
  test(`${name} lists what is bundled in it, with licences, and installs none of it`, () => {
    const dist = join(REPOSITORY, "packages", name, "dist");
    const paths = packed.get(name)?.files.map(({ path }) => path) ?? [];
    for (const file of ["dist/sbom.cdx.json", "dist/third-party-licenses.md"])
      assert.ok(paths.includes(file), file);
    const { components } = JSON.parse(readFileSync(join(dist, "sbom.cdx.json"), "utf8")) as {
      components: { group?: string; name: string }[];
    };
    const bundled = components.map(({ group, name: own }) => (group ? `${group}/${own}` : own));
    const { dependencies = {} } = readManifest(name) as { dependencies?: Record<string, string> };
    // Their types are part of the types of the SDK and of the room server.
    const typed = ["fastify", "zod"];
    assert.deepEqual(
      bundled.filter(
        (each) => each in dependencies && !typed.includes(each) && !each.startsWith("@vocalhost/"),
      ),
      [],
    );
    const licences = readFileSync(join(dist, "third-party-licenses.md"), "utf8");
    assert.deepEqual(
      bundled.filter((each) => !each.startsWith("@vocalhost/") && !licences.includes(`## ${each} - `)),
      [],
    );
  });

test("the SDK comes with its page, its model and the entry of its instances", () => {
  const paths = packed.get("sdk")?.files.map(({ path }) => path) ?? [];
  for (const path of [
    "client-page/index.html",
    "client-page/third-party-licenses.md",
    "dist/instance/main.js",
    "dist/media/media-worker.js",
    "dist/pacing/pacing-worker.js",
    "models/silero_vad_v5.onnx",
    "NOTICE",
  ])
    assert.ok(paths.includes(path), path);
});

describe("installed", () => {
  // The usual size installs once, as the one archive does, and works in a folder of that project; the long one also installs
  // every package by itself.
  before(async () => {
    await requireRegistry();
    made = await makeProject();
    installed = size(made, join(temporary, "project"));
    project = join(installed, "empty");
    mkdirSync(project, { recursive: true });
    writeFileSync(join(project, "package.json"), `{ "private": true, "type": "module" }`);
    writeFileSync(join(project, "bot.ts"), BOT);
    if (installed === made) return;
    writeFileSync(join(installed, "package.json"), `{ "private": true, "type": "module" }`);
    copyFileSync(join(REPOSITORY, ".npmrc"), join(installed, ".npmrc"));
    const files = [...packed.values()].map(({ file }) => file);
    await npm(installed, "install", "--ignore-scripts", ...files);
  });

  test("nothing that is installed with them has a script to run, so that nothing is compiled", () => {
    const lock = JSON.parse(readFileSync(join(installed, "package-lock.json"), "utf8")) as {
      packages: Record<string, { hasInstallScript?: boolean }>;
    };
    const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    assert.deepEqual(
      scripted.map(([path]) => path),
      [],
    );
  });

  test("a bot written with the published types passes their check", async () => {
    const options = {
      module: "nodenext",
      target: "es2024",
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ["node"],
      typeRoots: [join(REPOSITORY, "node_modules/@types")],
    };
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["bot.ts"] }),
    );
    const compiler = join(REPOSITORY, "node_modules/.bin/tsc");
    const { stdout } = await run(compiler, ["-p", project], { env: environment() }).catch(
      (error: unknown) => error as { stdout: string },
    );
    assert.equal(stdout, "");
  });

  test("a bot in an empty project runs on plain Node", async () => {
    await using runner = await startBot();
    const status = await fetch(new URL("/status", runner.url));
    assert.equal(status.status, 200);
    assert.equal(((await status.json()) as { status: string }).status, "ready");

    const page = await fetch(new URL("/", runner.url));
    assert.equal(page.url, new URL("/client/", runner.url).href);
    assert.equal(page.status, 200);
    const html = await page.text();
    const [, script] = /<script[^>]+src="([^"]+)"/.exec(html) ?? [];
    assert.equal((await fetch(new URL(script ?? "/no-script", page.url))).status, 200);

    assert.deepEqual(await askBot(runner.url, { t: "echo", d: 42 }), { t: "echo", d: 42 });
    assert.equal(await runner.end(), 0);
    const compiled = join(installed, "node_modules/vocalhost/node_modules/.cache/compiled");
    assert.ok(readdirSync(compiled, { recursive: true }).length > 1, "Node kept no compiled code");
    assert.doesNotMatch(runner.output(), /error|warn/i);
  });

  test("a bot in an empty project runs as a hosted instance", async () => {
    const folder = mkdtempSync(join(temporary, "instance-"));
    const entry = join(installed, "node_modules/vocalhost/dist/instance/main.js");
    const child = spawn(process.execPath, [entry], {
      cwd: project,
      stdio: "inherit",
      env: {
        ...environment(),
        [instanceVariables.id]: "instance",
        [instanceVariables.token]: "token",
        [instanceVariables.folder]: folder,
      },
    });
    const exited = once(child, "exit") as Promise<[number | null]>;
    try {
      const address = await until(
        () => existsSync(join(folder, "address")) && readFileSync(join(folder, "address"), "utf8"),
        START_DEADLINE_MS,
        "address",
      );
      const answer = await fetch(`http://${address}/instance`, {
        headers: { authorization: "Bearer token" },
      });
      assert.equal(((await answer.json()) as { ready: boolean }).ready, true);
    } finally {
      child.kill("SIGTERM");
    }
    assert.equal((await exited)[0], 0);
  });

  test("the installed command places a call to the bot", async () => {
    await using runner = await startBot();
    const stream = new URL("/ws", runner.url).href.replace("http", "ws");
    const command = join(installed, "node_modules/.bin/vocalhost");
    const { stdout } = await run(command, ["call", "--to", stream, "--hang-up-after", "3s", "--json"], {
      env: environment(),
    });
    const summary = JSON.parse(stdout) as Record<string, unknown>;
    assert.ok(Object.keys(summary).length > 0);
    assert.match(runner.output(), /session ended.*client-left/);
  });

  test("the command line alone is small, and says how the service is installed", async () => {
    const folder = mkdtempSync(join(temporary, "command-line-"));
    writeFileSync(join(folder, "package.json"), `{ "private": true }`);
    await npm(folder, "install", "--ignore-scripts", "--omit=optional", packed.get("cli")?.file ?? "");
    const { stdout: size } = await run("du", ["-sk", join(folder, "node_modules")]);
    assert.ok(Number.parseInt(size, 10) < COMMAND_LINE_MAX_KIB, `${size} KiB`);
    const command = join(folder, "node_modules/.bin/vocalhost");
    const up = run(command, ["up"], { cwd: folder, env: environment() });
    await assert.rejects(up, /npm install --save-dev @vocalhost\/control-plane@\d/);
    const { stdout } = await run(command, ["call", "--help"], { cwd: folder, env: environment() });
    assert.match(stdout, /--carrier/);
  });

  test("a project made from the one archive passes its own test and serves its bot", async () => {
    await npm(made, "test");
    const dev = spawn(join(made, "node_modules/.bin/vocalhost"), ["dev", "--port", "0", "--json"], {
      cwd: made,
      env: environment(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    for await (const text of dev.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      output += String(text);
      if (/"event":"ready"/.test(output)) break;
    }
    const [, url = ""] = /"url":"([^"]+)"/.exec(output) ?? [];
    assert.equal((await fetch(new URL("/status", url))).status, 200);
    dev.stdout.resume();
    dev.kill("SIGINT");
    assert.deepEqual(await once(dev, "exit"), [130, null]);
  });

  test("the installed command runs the service, and the made project is deployed to it", async () => {
    const command = join(made, "node_modules/.bin/vocalhost");
    const dataFolder = join(temporary, "service");
    const settings = {
      ...environment(),
      HOME: temporary,
      VOCALHOST_PORT: "0",
      VOCALHOST_DATA_DIR: dataFolder,
    };
    const up = spawn(command, ["up"], { cwd: made, env: settings, stdio: ["ignore", "pipe", "inherit"] });
    try {
      let output = "";
      up.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
      await until(() => /http:\/\/\S+\/v1/.test(output), START_DEADLINE_MS, "address of the service");
      const { apiUrl, privateKey, publicKey } = JSON.parse(
        readFileSync(join(dataFolder, "first-run.json"), "utf8"),
      ) as Record<"apiUrl" | "privateKey" | "publicKey", string>;
      const reach = { VOCALHOST_API_URL: apiUrl, VOCALHOST_API_KEY: privateKey };
      const { stdout } = await run(command, ["deploy", "--yes"], {
        cwd: made,
        env: { ...settings, ...reach },
      });
      assert.match(stdout, /is live/);
      const started = await fetch(`${apiUrl}/public/made/start`, {
        method: "POST",
        headers: { authorization: `Bearer ${publicKey}`, "content-type": "application/json" },
        body: JSON.stringify({ transport: "webrtc" }),
      });
      assert.equal(started.status, 200, await started.text());
    } finally {
      up.kill("SIGINT");
      await once(up, "exit");
    }
  });
});

/** The one archive that makes projects. */
async function packAll(): Promise<string> {
  const folder = mkdtempSync(join(temporary, "all-"));
  const pack = [join(REPOSITORY, "scripts/pack.ts"), "--no-build", "--out", folder];
  await run(process.execPath, pack, { env: environment() });
  return join(folder, readdirSync(folder)[0] ?? "");
}

/**
 * A project made from the archive. The usual size gives npm the versions that this repository has: to find out those of
 * the day takes it most of its time, and is no business of ours.
 */
async function makeProject(): Promise<string> {
  const npx = ["--yes", `./${relative(temporary, archive)}`, "made", "--yes", ...size(["--no-install"], [])];
  await run("npx", npx, { cwd: temporary, env: environment() });
  const folder = join(temporary, "made");
  if (existsSync(join(folder, "node_modules"))) return folder;
  const registry = (await npm(folder, "config", "get", "registry")).trim();
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lockOf(folder, registry)));
  await npm(folder, "install");
  return folder;
}

/** Opens a session as a client would, and gives the bot's answer to one message. */
async function askBot(url: URL, message: { t: string; d: unknown }): Promise<unknown> {
  const started = await fetch(new URL("/start", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ transport: "websocket" }),
  });
  const { wsUrl } = (await started.json()) as { wsUrl: string };
  const socket = new WebSocket(wsUrl);
  await once(socket, "open");
  const request = { label: "rtvi-ai", id: "1", type: "client-message", data: message };
  socket.send(encodeFrame({ kind: "message", data: JSON.stringify(request) }));
  const [bytes] = (await once(socket, "message")) as [Buffer];
  socket.close();
  const frame = parseFrame(bytes);
  assert.ok(frame.kind === "message");
  const answer = JSON.parse(frame.data) as { type: string; data: unknown };
  assert.equal(answer.type, "server-response");
  return answer.data;
}

async function startBot() {
  const child = spawn(process.execPath, ["bot.ts", "--port", "0"], {
    cwd: project,
    env: { ...environment(), NODE_COMPILE_CACHE: undefined }, // the tests have one of their own
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  const listening = Promise.withResolvers<URL>();
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const [, address] = /Talk to it\s+(http:\/\/\S+)/.exec(output) ?? [];
      if (address) listening.resolve(new URL(address));
    });
  void exited.then(([code]) => listening.reject(new Error(`The bot ended with ${code}:\n${output}`)));
  const timer = setTimeout(
    () => listening.reject(new Error(`Not up in time:\n${output}`)),
    START_DEADLINE_MS,
  );
  async function end(): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    return (await exited)[0];
  }
  try {
    const url = await listening.promise;
    return { url, output: () => output, end, [Symbol.asyncDispose]: async () => void (await end()) };
  } catch (error) {
    await end();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function npm(folder: string, ...args: string[]): Promise<string> {
  return (await run("npm", args, { cwd: folder, env: environment() })).stdout;
}

/** As in a terminal: nothing of the npm script or the test runner this runs in, our Node first. */
function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^npm_|^NODE_(?:OPTIONS|TEST_CONTEXT|V8_COVERAGE)$|^INIT_CWD$|^ENV$/.test(name),
  );
  const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  return { ...Object.fromEntries(inherited), ...NPM_SETTINGS, PATH: path };
}
