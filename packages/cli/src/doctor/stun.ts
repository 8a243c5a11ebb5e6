import { readStunAnswer, stunRequest } from "@vocalhost/protocol";
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const RESEND_MS = 500;
const ATTEMPTS = 5;

/** Asks a STUN server how it sees us, as `203.0.113.7:5000`; undefined when nothing comes back. */
export async function askStun(
  server: { host: string; port: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const socket = createSocket(isIPv6(server.host) ? "udp6" : "udp4");
  const transaction = randomBytes(12);
  const { promise: answer, resolve, reject } = Promise.withResolvers<string>();
  socket.on("error", reject);
  socket.on("message", (message) => {
    const seen = readStunAnswer(message, transaction);
    if (seen) resolve(`${seen.address}:${seen.port}`);
  });
  answer.catch(() => undefined);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      socket.send(stunRequest(transaction), server.port, server.host, (error) => error && reject(error));
      const address = await Promise.race([answer, sleep(RESEND_MS, undefined, { signal })]);
      if (address !== undefined) return address;
    }
    return undefined;
  } finally {
    socket.close();
  }
}
