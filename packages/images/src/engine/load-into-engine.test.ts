import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { unpackTar } from "modern-tar";
import { makeSmallImage, openTemporaryImages, temporaryFolder } from "../testing/small-image.ts";
import { EngineError, loadIntoEngine } from "./load-into-engine.ts";

test("an engine gets the archive that docker load would give it", async () => {
  let received: Buffer | undefined;
  await using engine = await startEngine(async (request, response) => {
    assert.deepEqual([request.method, request.url?.split("?")[0]], ["POST", "/images/load"]);
    received = await buffer(request);
    response.end(`{"stream":"Loaded image: docker.io/test/small:1"}\n`);
  });
  await using images = await openTemporaryImages();
  const image = await makeSmallImage(images);
  const progress: number[] = [];
  const onProgress = (done: number): void => void progress.push(done);
  await loadIntoEngine({ socket: engine.socket, image, name: "test/small:1", onProgress });
  const names = (await unpackTar(received ?? Buffer.alloc(0))).map(({ header }) => header.name);
  assert.ok(names.includes("manifest.json"));
  assert.equal(names.length, 2 + image.layers.length);
  assert.equal(progress.at(-1), 1);
});

test("what an engine says when it does not take an image is passed on", async () => {
  await using images = await openTemporaryImages();
  const image = await makeSmallImage(images);
  const answers: [string, (request: IncomingMessage, response: ServerResponse) => unknown, RegExp][] = [
    [
      "in the stream",
      async (request, response) => {
        await buffer(request);
        response.end(`{"stream":"x"}\n{"errorDetail":{},"error":"no space left on device"}\n`);
      },
      /did not take the image: no space left on device$/,
    ],
    [
      "by its status",
      async (request, response) => {
        await buffer(request);
        response.writeHead(500).end(`{"message":"broken \\"store\\""}`);
      },
      /did not take the image: broken "store"$/,
    ],
    ["by nothing", () => undefined, /cannot be used: nothing moved for 0 s$/],
    ["by leaving", (request) => request.socket.destroy(), /cannot be used: /],
  ];
  for (const [how, answer, message] of answers) {
    await using engine = await startEngine(answer);
    const error = await loadIntoEngine({
      socket: engine.socket,
      image,
      name: "test/small:1",
      stallMs: 200,
    }).then(
      () => assert.fail(how),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof EngineError, `${how}: ${String(error)}`);
    assert.match(error.message, message);
  }
  await assert.rejects(
    loadIntoEngine({ socket: join(images.folder, "none"), image, name: "test/small:1" }),
    /cannot be used: nothing listens there$/,
  );
});

async function startEngine(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<AsyncDisposable & { socket: string }> {
  const folder = await temporaryFolder();
  const socket = join(folder.path, "engine.sock");
  const server = createServer((request, response) => void answer(request, response));
  server.listen(socket);
  await once(server, "listening");
  return {
    socket,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      await folder[Symbol.asyncDispose]();
    },
  };
}
