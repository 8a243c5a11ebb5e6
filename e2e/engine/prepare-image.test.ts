import {
  createImage,
  imageLabels,
  openImageFolder,
  pushImage,
  thisPlatform,
  type Image,
  type Platform,
} from "@vocalhost/images";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startContainerEngine, type ContainerEngine } from "../../testing/container-engine.ts";
import { registryUser, startDockerRegistry, type DockerRegistry } from "../../testing/docker-registry.ts";
import { DriverUnavailableError, SourceError, type PullSecret } from "../../packages/drivers/src/driver.ts";
import { openEngine } from "../../packages/drivers/src/container/engine.ts";
import { prepareImage } from "../../packages/drivers/src/container/prepare-image.ts";
import { pullImage } from "../../packages/drivers/src/container/pull-image.ts";

let open: DockerRegistry;
let closed: DockerRegistry;
let container: ContainerEngine;
let folder: string;
let context: Parameters<typeof prepareImage>[1];

before(async () => {
  [open, closed] = await Promise.all([startDockerRegistry(), startDockerRegistry({ kind: "basic" })]);
  container = await startContainerEngine({ registries: [open.host, closed.host] });
  folder = mkdtempSync(join(tmpdir(), "prepare-image-"));
  context = {
    engine: await openEngine(container.socket),
    platform: thisPlatform(),
    mayReach: () => true,
    pulled: async () => undefined,
  };
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([open, closed, container].map((each) => each[Symbol.asyncDispose]()));
});

test("a tag means what it meant when it was asked for, also when it is moved or gone", async () => {
  const image = `${open.host}/team/bot:1`;
  const first = await push(image, { text: "first" });
  const told: string[] = [];
  const prepared = await prepare(image, { told });
  assert.deepEqual(prepared, {
    reference: `${open.host}/team/bot@${first.digest}`,
    labels: {
      "io.github.vocalhost.base.version": "0.2.0",
      "io.github.vocalhost.filter.version": "0.1.0",
      team: "voice",
    },
  });
  assert.match(told.join("; "), /^Asking the registry for the image; Pulling the image, \d+ % of 0 MB/);
  const second = await push(image, { text: "second" });
  assert.equal((await prepare(image)).reference, `${open.host}/team/bot@${second.digest}`);
  const deleted = await fetch(`http://${open.host}/v2/team/bot/manifests/${first.digest}`, {
    method: "DELETE",
  });
  assert.equal(deleted.status, 202);
  assert.deepEqual(await prepare(prepared.reference), prepared);
});

test("a registry that wants to know who asks", async () => {
  const image = `${closed.host}/team/secret:1`;
  await push(image, { credentials: registryUser });
  const right: PullSecret = {
    host: `http://${closed.host}/`,
    username: registryUser.username,
    token: registryUser.password,
  };
  await refuses(image, "IMAGE_PULL_UNAUTHORIZED", /wants credentials for .*, and none were given/);
  await refuses(image, "IMAGE_PULL_UNAUTHORIZED", /refused the credentials of 'robot'/, {
    pullSecret: { ...right, token: "wrong-token" },
  });
  await refuses(
    image,
    "IMAGE_PULL_UNAUTHORIZED",
    /is for the registry registry\.example\.com, the image is in/,
    {
      pullSecret: { ...right, host: "https://registry.example.com/" },
    },
  );
  const { reference } = await prepare(image, { pullSecret: right });
  assert.ok(await context.engine.inspectImage(reference));
});

test("everything else that can be wrong is one sentence", async () => {
  await refuses(`${open.host}/team/none:1`, "IMAGE_NOT_FOUND", /^There is no image .* in the registry/);
  await refuses(
    `${await closedHost()}/team/bot:1`,
    "IMAGE_PULL_UNKNOWN_ERROR",
    /cannot be reached: nothing listens there/,
  );
  await refuses("Not An Image", "IMAGE_NOT_FOUND", /does not name an image/);
  await refuses("localhost/team/none:1", "IMAGE_NOT_FOUND", /was loaded into the container engine/);
  const foreign = `${open.host}/team/foreign:1`;
  const architecture = thisPlatform().architecture === "arm64" ? "amd64" : "arm64";
  await push(foreign, { platform: { os: "linux", architecture } });
  await refuses(foreign, "INVALID_IMAGE_PLATFORM", /is made for linux\/\w+, not for linux/);
  const unbounded = `${open.host}/team/unbounded:1`;
  await push(unbounded, { volumes: { "/data": {} } });
  await refuses(unbounded, "UNKNOWN_ERROR", /declares a volume \(VOLUME \/data\).*it has \/tmp$/);
  context = { ...context, mayReach: ({ host }) => host !== open.host };
  await refuses(foreign, "IMAGE_PULL_UNKNOWN_ERROR", /which this service does not go to/);
  context = { ...context, mayReach: () => true };
});

test("an image that was loaded, or pulled by another program, has no volumes either", async () => {
  const reference = `${open.host}/team/unbounded:2`;
  const { digest } = await push(reference, { volumes: { "/data": {} }, text: "loaded" });
  const pinned = `${open.host}/team/unbounded@${digest}`;
  const options = { progressed: () => undefined, signal: new AbortController().signal };
  await pullImage(context.engine, {
    ...{ reference: pinned, totalBytes: 1_000, credentials: undefined },
    ...options,
  });
  await refuses(pinned, "UNKNOWN_ERROR", /VOLUME \/data/);
  await container.docker.getImage(pinned).tag({ repo: "localhost/team/unbounded", tag: "2" });
  await refuses("localhost/team/unbounded:2", "UNKNOWN_ERROR", /VOLUME \/data/);
});

test("an engine that is away is no fault of the image", async () => {
  const image = `${open.host}/team/later:1`;
  await push(image, { text: "later" });
  await container.kill();
  await assert.rejects(prepare(image), DriverUnavailableError);
  await container.start();
  await prepare(image);
});

/** Where nothing listens. */
async function closedHost(): Promise<string> {
  const registry = await startDockerRegistry();
  await registry[Symbol.asyncDispose]();
  return registry.host;
}

async function push(
  name: string,
  options: {
    text?: string;
    platform?: Platform;
    credentials?: typeof registryUser;
    volumes?: Record<string, object>;
  } = {},
): Promise<Image> {
  const { text = "hello", platform = thisPlatform(), credentials, volumes } = options;
  const images = await openImageFolder(folder);
  const layer = await images.pack({
    entries: [{ kind: "file", path: "hello", source: Buffer.from(text), mode: 0o644, uid: 0, gid: 0 }],
    createdBy: "test",
  });
  const Labels = { [imageLabels.baseVersion]: "0.2.0", [imageLabels.filterVersion]: "0.1.0", team: "voice" };
  const image = createImage({
    platform,
    layers: [layer],
    defaults: { Cmd: ["/hello"], Labels, ...(volumes ? { Volumes: volumes } : {}) },
  });
  await pushImage(image, name, { credentials });
  return image;
}

function prepare(reference: string, options: { pullSecret?: PullSecret; told?: string[] } = {}) {
  return prepareImage({ kind: "image", reference, pullSecret: options.pullSecret }, context, {
    progressed: (text) => options.told?.push(text),
    signal: new AbortController().signal,
  });
}

async function refuses(
  image: string,
  code: SourceError["code"],
  text: RegExp,
  options: { pullSecret?: PullSecret } = {},
): Promise<void> {
  await assert.rejects(prepare(image, options), (error) => {
    assert.ok(error instanceof SourceError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, text);
    assert.doesNotMatch(error.message, /open sesame|wrong-token/);
    return true;
  });
}
