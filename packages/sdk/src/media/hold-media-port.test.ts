import { readStunAnswer, stunRequest } from "@vocalhost/protocol";
import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { test } from "node:test";
import { holdMediaPort } from "./hold-media-port.ts";

async function openSocket(port = 0): Promise<{ socket: Socket; port: number } & Disposable> {
  const socket = createSocket("udp4");
  socket.bind(port, "127.0.0.1");
  await once(socket, "listening");
  return { socket, port: socket.address().port, [Symbol.dispose]: () => socket.close() };
}

async function freePort(): Promise<number> {
  using taken = await openSocket();
  return taken.port;
}

test("a held port answers whether it is reached, and is free at once when it is released", async () => {
  const port = await freePort();
  const held = await holdMediaPort(port);
  await assert.rejects(holdMediaPort(port), {
    message: `UDP port ${port}, through which calls are to come, cannot be opened: another program uses it`,
  });
  {
    using asking = await openSocket();
    const transaction = new Uint8Array(12).fill(7);
    asking.socket.send(Buffer.from("not a question"), port, "127.0.0.1");
    asking.socket.send(stunRequest(transaction), port, "127.0.0.1");
    const [answer] = (await once(asking.socket, "message")) as [Buffer];
    assert.deepEqual(readStunAnswer(answer, transaction), { address: "127.0.0.1", port: asking.port });
  }
  held.release();
  held.release();
  using _again = await openSocket(port);
});

test("a port in use on a single address counts as taken", async () => {
  using taken = await openSocket();
  await assert.rejects(holdMediaPort(taken.port), /another program uses it/);
});
