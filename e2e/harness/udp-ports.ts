import { readStunAnswer, stunRequest, type StunAddress } from "@vocalhost/protocol";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { pause } from "../../testing/wait.ts";

const FIRST = 20_000; // below the range of ephemeral ports
const LAST = 30_000;
const ASK_AGAIN_MS = 200;
const ATTEMPTS = 10;

/** Returns the first of this many free UDP ports in a row. */
export async function freeUdpPorts(count: number): Promise<number> {
  for (;;) {
    const first = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    const bound = await Promise.all(Array.from({ length: count }, (_, at) => bind(first + at)));
    for (const socket of bound) socket?.close();
    if (bound.every((socket) => socket !== undefined)) return first;
  }
}

/** Asks the process at the port for our address; undefined without an answer. */
export async function askUdpPort(port: number): Promise<StunAddress | undefined> {
  const socket = createSocket("udp4");
  const transaction = crypto.getRandomValues(new Uint8Array(12));
  let seen: StunAddress | undefined;
  socket.on("message", (message) => void (seen ??= readStunAnswer(message, transaction)));
  for (let attempt = 0; attempt < ATTEMPTS && !seen; attempt += 1) {
    socket.send(stunRequest(transaction), port, "127.0.0.1");
    await pause(ASK_AGAIN_MS);
  }
  socket.close();
  return seen;
}

async function bind(port: number): Promise<Socket | undefined> {
  const socket = createSocket("udp6");
  try {
    socket.bind(port);
    await once(socket, "listening");
    return socket;
  } catch {
    socket.close();
    return undefined;
  }
}
