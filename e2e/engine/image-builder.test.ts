import { thisPlatform } from "@vocalhost/images";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { loadBotImage } from "../../testing/bot-image.ts";
import { startContainerEngine, type ContainerEngine } from "../../testing/container-engine.ts";
import { registryUser, startDockerRegistry, type DockerRegistry } from "../../testing/docker-registry.ts";
import { until } from "../../testing/wait.ts";
import { silentLog } from "../../packages/base/src/log.ts";
import type { ImageBuildTask } from "../../packages/drivers/src/image-builder.ts";
import { openEngine, type Engine } from "../../packages/drivers/src/container/engine.ts";
import {
  EngineImageBuilder,
  type ImageBuilderSettings,
} from "../../packages/drivers/src/container/builds/image-builder.ts";
import { openPulledImages } from "../../packages/drivers/src/container/builds/pulled-images.ts";

const BASE = "vocalhost/base:0.2.0";
let container: ContainerEngine;
let registry: DockerRegistry;
let engine: Engine;
let folder: string;

before(async () => {
  registry = await startDockerRegistry({ kind: "basic" });
  container = await startContainerEngine({ registries: [registry.host] });
  await loadBotImage(container.docker, { name: BASE });
  engine = await openEngine(container.socket);
  folder = mkdtempSync(join(tmpdir(), "image-builder-"));
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([container, registry].map((each) => each[Symbol.asyncDispose]()));
});

test("a folder becomes an image, its packages apart, and the same is not built twice", async () => {
  const files = { "bot.ts": "export const one = 1;", "node_modules/left/index.js": "module.exports = 1;" };
  const first = await build(files, { tag: "one" });
  assert.equal(first.built.baseVersion, "0.2.0");
  assert.match(first.built.reference, /^localhost\/vocalhost\/builds@sha256:/);
  assert.ok(first.built.bytes > 0 && first.built.bytes < 1e6, String(first.built.bytes));
  assert.equal(
    await run(first.built.reference, "console.log(require('/app/node_modules/left/index.js'))"),
    "1",
  );
  const again = await build(files, { tag: "two" });
  assert.equal(again.built.reference, first.built.reference);
  const changed = await build({ ...files, "bot.ts": "export const two = 2;" }, { tag: "three" });
  assert.notEqual(changed.built.reference, first.built.reference);
  const cached = changed.lines.filter((line) => /using cache/i.test(line)).length;
  assert.ok(cached >= 2, changed.lines.join("\n")); // at least up to the packages
  assert.notEqual(
    (await build(files, { tag: "four", organizationId: "another" })).built.reference,
    first.built.reference,
    "layers of one organisation are no other's",
  );
});

test("commands of a Dockerfile have no network, or the instances', and never that of the machine", async () => {
  const probe = `FROM ${BASE}
RUN ["node", "-e", "console.log('cards', Object.keys(require('node:os').networkInterfaces()).join(), require('node:fs').readFileSync('/proc/net/dev','utf8').match(/^ *[a-z]\\\\w*(?=:)/gm).map((name) => name.trim()).sort().join())"]
`;
  const cards = (lines: string[]): string =>
    lines.find((line) => line.startsWith("cards")) ?? lines.join("\n");
  const none = await build({ Dockerfile: probe }, { tag: "net-none", dockerfilePath: "Dockerfile" });
  assert.doesNotMatch(cards(none.lines), /veth|vt\d|docker|cni|ifb/);
  const dialed = (hasNetwork: boolean): string => `FROM ${BASE}
RUN ["node", "-e", "/* ${hasNetwork} */ require('node:net').connect(${registry.host.split(":")[1]}, '127.0.0.1').on('error', (e) => console.log('dial', e.code)).on('connect', () => console.log('dial reached'))"]
`;
  for (const hasNetwork of [false, true]) {
    const { lines } = await build(
      { Dockerfile: dialed(hasNetwork) },
      { tag: "net", dockerfilePath: "Dockerfile" },
      { hasNetwork },
    );
    assert.ok(lines.includes("dial ECONNREFUSED"), lines.join("\n"));
  }
});

test("a build that fails, takes too long or too much memory says so and leaves nothing running", async () => {
  const of = (js: string): Record<string, string> => ({
    Dockerfile: `FROM ${BASE}\nRUN ["node", "-e", ${JSON.stringify(js)}]\n`,
  });
  const options = { tag: "bad", dockerfilePath: "Dockerfile" };
  await assert.rejects(build(of("process.exit(7)"), options), /7/);
  await assert.rejects(
    build(of("const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))"), options, { memoryMib: 256 }),
    /want of memory\? A build has 256 MiB/,
  );
  const mark = `${Date.now()}${process.pid}`;
  const signal = AbortSignal.timeout(8_000);
  await assert.rejects(build(of(`setInterval(() => ${mark}, 1000)`), { ...options, signal }), {
    name: "TimeoutError",
  });
  const isLeft = (): boolean =>
    execFileSync("ps", ["axo", "args"], { encoding: "utf8" }).includes(`setInterval(() => ${mark}`);
  await until(() => !isLeft(), 10_000, "end of the command");
  await assert.rejects(
    build({ Dockerfile: "FROM localhost/vocalhost/builds:one\n" }, options),
    /belongs to this machine/,
  );
  await assert.rejects(
    build({ Dockerfile: "FROM vocalhost/base:9.9.9\n" }, options),
    /This service has vocalhost\/base:0\.2\.0/,
  );
  await assert.rejects(
    build({ Dockerfile: "FROM oci:/etc\n" }, options),
    /not the name of an image|is not a/,
  );
});

test("builds are pushed where that is configured, and removed when no agent needs them", async () => {
  const { username, password: token } = registryUser;
  const secret = { host: registry.host, username, token };
  const settings = { registry: { repository: `${registry.host}/team/bots`, secret } };
  const { built } = await build({ "bot.ts": "pushed" }, { tag: "pushed" }, settings);
  assert.match(built.reference, new RegExp(`^${registry.host}/team/bots@sha256:[0-9a-f]{64}$`));
  const wrong = { registry: { ...settings.registry, secret: { ...secret, token: "wrong" } } };
  await assert.rejects(
    build({ "bot.ts": "pushed" }, { tag: "pushed" }, wrong),
    /could not be pushed to .*unauthorized|authentication/i,
  );

  const kept = await build({ "bot.ts": "kept" }, { tag: "kept" });
  const gone = await build({ "bot.ts": "gone" }, { tag: "gone" });
  const builder = open({}, { nowMs: () => Date.now() + 8 * 86_400_000 });
  assert.ok((await builder.keepOnly(new Set([kept.built.reference]))) >= 1);
  assert.equal(await builder.has(kept.built.reference), true);
  assert.equal(await builder.has(gone.built.reference), false);
  // Also those of the build that was given up above.
  const layers = await container.docker.listImages({ all: true });
  const names = layers.flatMap(({ RepoTags }) => RepoTags ?? []).filter((name) => /builds:/.test(name));
  assert.deepEqual(names, ["localhost/vocalhost/builds:kept"]);
  const { ImagesDeleted } = (await container.docker.pruneImages({
    filters: { dangling: ["true"], label: ["io.github.vocalhost.build.service=test"] },
  })) as { ImagesDeleted?: unknown[] | null };
  assert.deepEqual(ImagesDeleted ?? [], [], "no layers were left for others to remove");
});

function open(settings: Partial<ImageBuilderSettings>, more: { nowMs?: () => number } = {}) {
  return new EngineImageBuilder({
    engine,
    platform: thisPlatform(),
    service: "test",
    network: container.network,
    settings: {
      ...{ imageFolders: [], ownFolder: join(folder, "base"), productVersion: "0.1.0", environment: {} },
      ...{ baseVersion: "0.2.0", memoryMib: 1_024, hasNetwork: false, npmRegistry: undefined },
      ...{ registry: undefined, registries: [] },
      ...settings,
    },
    pulled: openPulledImages(join(folder, "pulled")),
    mayReach: () => true,
    log: silentLog,
    ...more,
  });
}

let number = 0;

async function build(
  files: Record<string, string>,
  task: Partial<ImageBuildTask>,
  settings: Partial<ImageBuilderSettings> = {},
) {
  number += 1;
  const place = join(folder, String(number));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), text);
  }
  const lines: string[] = [];
  const built = await open(settings).build({
    buildId: `test-${process.pid}-${number}`,
    organizationId: "organization",
    tag: "test",
    folder: place,
    dockerfilePath: "Dockerfile" in files ? "Dockerfile" : undefined,
    say: (line) => lines.push(line),
    signal: new AbortController().signal,
    ...task,
  });
  return { built, lines };
}

async function run(reference: string, js: string): Promise<string> {
  const image = reference.replace(/^.*@/, "");
  const created = await container.docker.createContainer({
    Image: image,
    Entrypoint: ["/usr/local/bin/node", "-e", js],
    Cmd: [],
    HostConfig: { NetworkMode: "none" },
  });
  await created.start();
  await created.wait();
  const output = await created.logs({ stdout: true, stderr: true });
  await created.remove({ force: true });
  return output.subarray(8).toString().trim();
}
