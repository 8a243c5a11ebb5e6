import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { registryUser, startDockerRegistry } from "../../../../testing/docker-registry.ts";
import { startTokenServer } from "../../../../testing/token-server.ts";
import { compressedBytes } from "../image.ts";
import { readBaseFacts } from "../labels.ts";
import { thisPlatform, type Platform } from "../platform.ts";
import { makeSmallImage, openTemporaryImages } from "../testing/small-image.ts";
import { pushImage, type PushProgress } from "./push-image.ts";
import { resolveImage } from "./resolve-image.ts";

const platform = thisPlatform();
const otherPlatform: Platform = {
  os: "linux",
  architecture: platform.architecture === "arm64" ? "amd64" : "arm64",
};
const run = promisify(execFile);

test("a pushed image is found by its tag, and by its digest after the tag means another", async () => {
  await using registry = await startDockerRegistry();
  await using folder = await openTemporaryImages();
  const name = `${registry.host}/team/small:1`;
  const image = await makeSmallImage(folder);
  const progress: PushProgress[] = [];
  const pushed = await pushImage(image, name, { onProgress: (step) => progress.push(step) });
  assert.deepEqual(progress.at(-1), {
    sentBytes: compressedBytes(image),
    totalBytes: compressedBytes(image),
  });
  assert.equal(pushed.uploadedBytes, compressedBytes(image));
  assert.equal(pushed.pinned, `${registry.host}/team/small@${image.digest}`);

  const resolved = await resolveImage(name, { platform });
  assert.equal(resolved.pinned, pushed.pinned);
  assert.equal(resolved.compressedBytes, compressedBytes(image));
  assert.deepEqual(readBaseFacts(resolved.labels), {
    baseVersion: "0.2.0",
    filterVersion: "0.1.0",
    productVersion: undefined,
  });
  const { stdout } = await run("skopeo", ["inspect", "--tls-verify=false", `docker://${name}`]);
  assert.equal((JSON.parse(stdout) as { Digest: string }).Digest, image.digest);

  assert.equal((await pushImage(image, name)).uploadedBytes, 0);
  const mounted = await pushImage(image, `${registry.host}/team/copy:1`, { mountFrom: "team/small" });
  assert.equal(mounted.uploadedBytes, 0);

  const newer = await makeSmallImage(folder, { text: "newer" });
  const { uploadedBytes } = await pushImage(newer, name);
  assert.ok(uploadedBytes > 0 && uploadedBytes < compressedBytes(newer)); // the layer below is there
  assert.equal((await resolveImage(name, { platform })).digest, newer.digest);
  assert.equal((await resolveImage(pushed.pinned, { platform })).digest, image.digest);
});

test("what is not there or made for another platform is told apart", async () => {
  await using registry = await startDockerRegistry();
  await using folder = await openTemporaryImages();
  await pushImage(await makeSmallImage(folder, { platform: otherPlatform }), `${registry.host}/a:1`);
  const resolve = (name: string): Promise<unknown> => resolveImage(`${registry.host}/${name}`, { platform });
  const missing = `${registry.host}/a@sha256:${"0".repeat(64)}`;
  await assert.rejects(resolve("a:2"), {
    code: "IMAGE_NOT_FOUND",
    message: `There is no image ${registry.host}/a:2 in the registry ${registry.host}`,
  });
  await assert.rejects(resolve("b:1"), { code: "IMAGE_NOT_FOUND" });
  await assert.rejects(resolveImage(missing, { platform }), { code: "IMAGE_NOT_FOUND" });
  await assert.rejects(resolve("a:1"), {
    code: "IMAGE_WRONG_PLATFORM",
    message: `The image ${registry.host}/a:1 is made for linux/${otherPlatform.architecture}, not for linux/${platform.architecture}`,
  });
  await assert.rejects(pushImage(await makeSmallImage(folder), missing), { code: "REFERENCE_INVALID" });
});

for (const kind of ["basic", "token"] as const)
  test(`a registry with ${kind} authentication lets in who may come in`, async () => {
    await using tokens = await startTokenServer(registryUser);
    await using registry = await startDockerRegistry(kind === "basic" ? { kind } : tokens.door);
    await using folder = await openTemporaryImages();
    const image = await makeSmallImage(folder);
    const name = `${registry.host}/team/small:1`;
    const wrong = { username: "robot", password: "guessed" };
    const refused = {
      code: "IMAGE_UNAUTHORIZED",
      message: `The registry ${registry.host} refused the credentials of 'robot' for ${name}`,
    };
    const asked = {
      code: "IMAGE_UNAUTHORIZED",
      message: `The registry ${registry.host} wants credentials for ${name}, and none were given`,
    };
    await assert.rejects(pushImage(image, name), asked);
    await assert.rejects(pushImage(image, name, { credentials: wrong }), refused);
    await pushImage(image, name, { credentials: registryUser });
    await assert.rejects(resolveImage(name, { platform }), asked);
    await assert.rejects(resolveImage(name, { platform, credentials: wrong }), refused);
    const resolved = await resolveImage(name, { platform, credentials: registryUser });
    assert.equal(resolved.digest, image.digest);
    assert.equal(tokens.scopes.includes("repository:team/small:pull"), kind === "token");
  });
