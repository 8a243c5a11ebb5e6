import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createImage, imageLabels, openImageFolder, resolveImage, thisPlatform } from "@vocalhost/images";
import {
  registryUser,
  startDockerRegistry,
  type DockerRegistry,
} from "../../../../testing/docker-registry.ts";
import { startVocalhostAt, type FinishedProgram } from "../testing/run-vocalhost.ts";

const platform = thisPlatform();
let temporary = "";
let bot = "";
let images = "";
let registry: DockerRegistry;

before(async () => {
  temporary = await mkdtemp(join(tmpdir(), "image-command-"));
  bot = join(temporary, "bot");
  images = join(temporary, "cache/vocalhost/images");
  await mkdir(bot);
  await writeFile(join(bot, "bot.ts"), "export async function bot() {}");
  await writeFile(join(bot, ".env"), "SECRET=never-in-an-image");
  await writeFile(join(bot, "vocalhost.toml"), `agent_name = "my-parrot"\n`);
  await putSmallBase();
  registry = await startDockerRegistry({ kind: "basic" });
});

after(async () => {
  await registry[Symbol.asyncDispose]();
  await rm(temporary, { recursive: true, force: true });
});

test("a folder becomes an image, the same one again, and an archive", async () => {
  const { image } = await built("image", "build", "--output", "bot.tar");
  assert.equal(image.name, "my-parrot:latest");
  assert.deepEqual(image.files, [join(bot, "bot.tar")]);
  assert.ok(existsSync(join(bot, "bot.tar")));
  const again = await built("image", "build", "--output", "bot.tar"); // which is no part of the bot
  await rm(join(bot, "bot.tar"));
  assert.equal(again.image.digest, image.digest);
  assert.equal(again.image.isUnchanged, true);
  const text = await vocalhost({}, "image", "build");
  assert.match(
    text.output,
    new RegExp(`^my-parrot:latest  linux/${platform.architecture}, .*\n${image.digest}  as before\n`),
  );
  assert.match(text.errors, /Next: vocalhost image push my-parrot:latest/);
});

test("an image is pushed with the user of the environment or of a login's file, and of nobody else", async () => {
  const name = `${registry.host}/team/parrot:1`;
  const { image } = await built("image", "build", "--name", name, "--bot", "bot.ts");
  const { username, password } = registryUser;

  const nobody = await vocalhost({}, "image", "push", name, "--json");
  assert.equal(nobody.exitCode, 1);
  assert.equal(problemOf(nobody).code, "image_unauthorized");
  const wrong = { VOCALHOST_REGISTRY_USERNAME: username, VOCALHOST_REGISTRY_PASSWORD: "guessed-it" };
  const refused = await vocalhost(wrong, "image", "push", name);
  assert.match(refused.errors, /refused the credentials of 'robot'/);
  assert.doesNotMatch(refused.errors + refused.output, /guessed-it/);

  const right = { VOCALHOST_REGISTRY_USERNAME: username, VOCALHOST_REGISTRY_PASSWORD: password };
  const pushed = await vocalhost(right, "image", "push", name);
  assert.equal(pushed.output, `${registry.host}/team/parrot@${image.digest}\n`, pushed.errors);
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  const authFile = join(temporary, "auth.json");
  await writeFile(authFile, JSON.stringify({ auths: { [registry.host]: { auth } } }));
  const again = await vocalhost({}, "image", "push", name, "--auth-file", authFile);
  assert.match(again.errors, /The registry had all of it/);

  const { labels, config } = await resolveImage(name, { platform, credentials: registryUser });
  assert.equal(labels[imageLabels.baseVersion], "0.2.0");
  assert.ok(config.config?.Env?.includes("VOCALHOST_INSTANCE_BOT=bot.ts"));
});

test("what is missing is said, with what to do", async () => {
  const unknown = await vocalhost({}, "image", "push", "parrot:9", "--json");
  assert.equal(problemOf(unknown).code, "image_not_built");
  await built("image", "build");
  const noEngine = await vocalhost(
    {},
    "image",
    "load",
    "my-parrot:latest",
    "--socket",
    join(temporary, "none"),
  );
  assert.equal(noEngine.exitCode, 1);
  assert.match(noEngine.errors, /cannot be used: nothing listens there/);
  assert.match(noEngine.errors, /docker load -i bot\.tar/);
  const noFile = await vocalhost({}, "image", "build", "--bot", "other.ts", "--json");
  assert.deepEqual([noFile.exitCode, problemOf(noFile).code], [2, "usage"]);
  const badName = await vocalhost({}, "image", "build", "--name", "Not A Name", "--json");
  assert.equal(problemOf(badName).code, "reference_invalid");
  const noPackages = await vocalhost({}, "image", "build", "--base", "--packages", bot, "--json");
  assert.equal(problemOf(noPackages).code, "usage");
});

/** Stores a stand-in for the base: images built on it need only its name and labels. */
async function putSmallBase(): Promise<void> {
  const folder = await openImageFolder(images);
  const entries = [{ kind: "directory" as const, path: "app", mode: 0o755, uid: 0, gid: 0 }];
  const layer = await folder.pack({ entries, createdBy: "base" });
  const labels = { [imageLabels.baseVersion]: "0.2.0", [imageLabels.productVersion]: "0.1.0" };
  const base = createImage({ platform, layers: [layer], defaults: { Labels: labels } });
  await folder.put(base, "vocalhost/base:0.2.0");
}

interface BuiltAnswer {
  name: string;
  digest: string;
  files: string[];
  isUnchanged: boolean;
}

async function built(...words: string[]): Promise<{ image: BuiltAnswer }> {
  const { output, errors, exitCode } = await vocalhost({}, ...words, "--json");
  assert.equal(exitCode, 0, output + errors);
  return { image: JSON.parse(output) as BuiltAnswer };
}

function vocalhost(environment: Record<string, string>, ...words: string[]): Promise<FinishedProgram> {
  const nothing = { DOCKER_CONFIG: temporary, REGISTRY_AUTH_FILE: "", XDG_RUNTIME_DIR: temporary };
  const places = { XDG_CACHE_HOME: join(temporary, "cache"), ...nothing };
  return startVocalhostAt({ folder: bot, environment: { ...places, ...environment } }, ...words).finished;
}

function problemOf({ output }: FinishedProgram): { code: string; message: string } {
  return (JSON.parse(output) as { problem: { code: string; message: string } }).problem;
}
