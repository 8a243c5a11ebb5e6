import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { WebSocket } from "ws";
import { within } from "../../../../testing/wait.ts";
import { webSocketFrame } from "./paced-line.ts";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455, 1.3

test("a client reads messages of every length as they were written", async () => {
  await using stack = new AsyncDisposableStack();
  const texts = [0, 1, 125, 126, 65_535, 65_536].map(
    (length) => "é".repeat(length / 2) + "x".repeat(length % 2),
  );
  const bytes = [0, 125, 126, 65_535, 65_536].map((length) => new Uint8Array(length).fill(7));
  const server = createServer((socket) => void answer(socket)).listen(0, "127.0.0.1");
  stack.defer(() => void server.close());
  await once(server, "listening");

  async function answer(socket: Socket): Promise<void> {
    const [head] = (await once(socket, "data")) as [Buffer];
    const key = /sec-websocket-key: (\S+)/i.exec(head.toString())?.[1] ?? "";
    const accept = createHash("sha1")
      .update(key + GUID)
      .digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    );
    for (const message of [...texts, ...bytes]) socket.write(webSocketFrame(message));
  }

  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  stack.defer(() => client.terminate());
  const read: (string | Uint8Array)[] = [];
  const all = Promise.withResolvers<void>();
  client.on("message", (data: Buffer, isBinary) => {
    read.push(isBinary ? Uint8Array.from(data) : data.toString());
    if (read.length === texts.length + bytes.length) all.resolve();
  });
  await within(all.promise, 5_000, "all messages");
  assert.deepEqual(read, [...texts, ...bytes]);
});
