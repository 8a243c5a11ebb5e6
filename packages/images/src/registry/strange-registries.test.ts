import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { test } from "node:test";
import { listenOnLoopback } from "../../../../testing/loopback-server.ts";
import { digestOf } from "../digest.ts";
import { mediaTypes } from "../image-documents.ts";
import { thisPlatform } from "../platform.ts";
import { makeSmallImage, openTemporaryImages } from "../testing/small-image.ts";
import { readAuthFile } from "./credentials.ts";
import { pushImage } from "./push-image.ts";
import { resolveImage } from "./resolve-image.ts";

const platform = thisPlatform();
const credentials = { username: "robot", password: "s3cret-word" };

test("of an image for many platforms the one that fits is found", async () => {
  await using folder = await openTemporaryImages();
  const image = await makeSmallImage(folder);
  const entry = (digest: string, os: string, architecture: string): unknown => ({
    mediaType: mediaTypes.manifest,
    digest,
    size: 1,
    platform: { os, architecture },
  });
  const fitting = entry(image.digest, "linux", platform.architecture);
  const others = [
    entry(digestOf("x"), "windows", platform.architecture),
    entry(digestOf("y"), "unknown", "unknown"),
  ];
  let manifests = [...others, fitting];
  await using registry = await startServer((request, response) => {
    const path = request.url ?? "";
    if (path.endsWith(`/manifests/${image.digest}`))
      response.setHeader("content-type", mediaTypes.manifest).end(image.manifest.bytes);
    else if (path.includes("/manifests/"))
      response
        .setHeader("content-type", `${mediaTypes.index}; charset=utf-8`)
        .end(JSON.stringify({ schemaVersion: 2, manifests }));
    else response.end(image.config.bytes);
  });
  const name = `${registry.host}/many:1`;
  assert.equal((await resolveImage(name, { platform })).digest, image.digest);
  manifests = others;
  await assert.rejects(resolveImage(name, { platform }), {
    code: "IMAGE_WRONG_PLATFORM",
    message: `The image ${name} is made for windows/${platform.architecture}, not for linux/${platform.architecture}`,
  });
});

test("a redirect is followed without the credentials, and only where one may go", async () => {
  await using folder = await openTemporaryImages();
  const image = await makeSmallImage(folder);
  const seenElsewhere: (string | undefined)[] = [];
  await using elsewhere = await startServer((request, response) => {
    seenElsewhere.push(request.headers.authorization);
    response.end(image.config.bytes);
  });
  await using registry = await startServer((request, response) => {
    if (request.headers.authorization === undefined)
      response.writeHead(401, { "www-authenticate": "Basic realm=x" }).end();
    else if (request.url?.includes("/manifests/"))
      response.setHeader("content-type", mediaTypes.manifest).end(image.manifest.bytes);
    else response.writeHead(307, { location: `http://${elsewhere.host}/blob` }).end();
  });
  const name = `${registry.host}/a:1`;
  assert.equal((await resolveImage(name, { platform, credentials })).digest, image.digest);
  assert.deepEqual(seenElsewhere, [undefined]);
  const mayReach = ({ host }: URL): boolean => host !== elsewhere.host;
  await assert.rejects(resolveImage(name, { platform, credentials, mayReach }), {
    code: "REGISTRY_UNREACHABLE",
    message: `The registry ${registry.host} leads to ${elsewhere.host}, which this service does not go to`,
  });
  assert.equal(seenElsewhere.length, 1);
});

test("a name is judged by the addresses it leads to before any of them is asked", async () => {
  let asked = 0;
  await using registry = await startServer((_request, response) => {
    asked += 1;
    response.writeHead(404).end();
  });
  const host = registry.host.replace("127.0.0.1", "localhost");
  const judged: (string | undefined)[] = [];
  const mayReach = (_url: URL, address?: string): boolean => {
    judged.push(address);
    return address !== "127.0.0.1";
  };
  await assert.rejects(resolveImage(`${host}/a:1`, { platform, mayReach }), {
    code: "REGISTRY_UNREACHABLE",
    message: `The registry ${host} leads to ${host} (127.0.0.1), which this service does not go to`,
  });
  assert.ok(judged.includes(undefined));
  assert.equal(asked, 0);
  await assert.rejects(resolveImage(`${host}/a:1`, { platform }), { code: "IMAGE_NOT_FOUND" });
  assert.equal(asked, 1);
});

test("a registry that hangs, refuses connections or has no name is unreachable", async () => {
  await using folder = await openTemporaryImages();
  const image = await makeSmallImage(folder);
  await using silent = await startServer(() => undefined);
  await using slow = await startServer((_request, response) => void response.writeHead(200).write("{"));
  const limits = { requestMs: 300, stallMs: 300 };
  for (const { host } of [silent, slow])
    await assert.rejects(resolveImage(`${host}/a:1`, { platform, limits }), {
      code: "REGISTRY_UNREACHABLE",
      message: `The registry ${host} cannot be reached: it did not answer in time`,
    });
  await using deaf = await startServer((request, response) => {
    if (request.method === "POST") response.writeHead(202, { location: "/upload?state=1" }).end(); // relative, as some have it
    else if (request.method === "HEAD") response.writeHead(404).end();
  });
  await assert.rejects(pushImage(image, `${deaf.host}/a:1`, { limits }), { code: "REGISTRY_UNREACHABLE" });
  const closed = await startServer(() => undefined);
  await closed[Symbol.asyncDispose]();
  await assert.rejects(resolveImage(`${closed.host}/a:1`, { platform }), {
    code: "REGISTRY_UNREACHABLE",
    message: `The registry ${closed.host} cannot be reached: nothing listens there (connection refused)`,
  });
  await assert.rejects(resolveImage("registry.invalid/a:1", { platform }), { code: "REGISTRY_UNREACHABLE" });
  await assert.rejects(resolveImage(`${silent.host}/a:1`, { platform, signal: AbortSignal.abort() }), {
    name: "AbortError",
  });
});

test("answers that make no sense are the registry's failure, and no message holds a secret", async () => {
  await using folder = await openTemporaryImages();
  const image = await makeSmallImage(folder);
  const manifest = (response: ServerResponse): ServerResponse =>
    response.setHeader("content-type", mediaTypes.manifest);
  const answers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    "a page": (_request, response) => response.end("<html>"),
    "an error": (_request, response) => response.writeHead(500).end("s3cret-word"),
    "another configuration": (request, response) =>
      request.url?.includes("/manifests/")
        ? manifest(response).end(image.manifest.bytes)
        : response.end(`{"architecture":"${platform.architecture}"}`),
    "redirects without end": (request, response) => response.writeHead(307, { location: request.url }).end(),
    "a manifest without end": (_request, response) => manifest(response).end(Buffer.alloc(5_000_000, 32)),
    "a token server without TLS": (_request, response) =>
      response.writeHead(401, { "www-authenticate": `Bearer realm="ftp://a/token"` }).end(),
    "a token server without tokens": (request, response) =>
      request.url?.startsWith("/token")
        ? response.end("{}")
        : response
            .writeHead(401, { "www-authenticate": `Bearer realm="http://${request.headers.host}/token"` })
            .end(),
  };
  for (const [what, answer] of Object.entries(answers)) {
    await using registry = await startServer(answer);
    const error = await resolveImage(`${registry.host}/a:1`, { platform, credentials }).then(
      () => assert.fail(what),
      (thrown: unknown) => thrown as Error & { code: string },
    );
    assert.equal(error.code, "REGISTRY_FAILED", `${what}: ${error.message}`);
    assert.doesNotMatch(error.message, /s3cret-word|\n/);
  }
});

test("credentials are found in the file that a login writes", () => {
  const auth = Buffer.from("robot:a:b").toString("base64");
  const file = JSON.stringify({
    auths: {
      "registry.example.com": { auth },
      "https://index.docker.io/v1/": { username: "me", password: "p" },
      "empty.example.com": {},
    },
    credsStore: "desktop",
  });
  assert.deepEqual(readAuthFile(file, "registry.example.com"), { username: "robot", password: "a:b" });
  assert.deepEqual(readAuthFile(file, "docker.io"), { username: "me", password: "p" });
  assert.equal(readAuthFile(file, "empty.example.com"), undefined);
  assert.equal(readAuthFile(file, "other.example.com"), undefined);
  assert.throws(() => readAuthFile("[]", "docker.io"));
});

async function startServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<AsyncDisposable & { host: string }> {
  const server = createServer(answer);
  const listening = await listenOnLoopback(server);
  return {
    host: listening.host,
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}
