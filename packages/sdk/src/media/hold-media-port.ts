import { stunAnswer } from "@vocalhost/protocol";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { MediaPortError } from "./media-port-error.ts";

/** Keeps a UDP port for a call to come, so that nobody else takes it, and answers whoever asks whether it is reached. */
export interface HeldPort {
  /** Before a call opens it. */
  release(): void;
}

/** Rejects with a sentence when the port cannot be had. */
export async function holdMediaPort(port: number): Promise<HeldPort> {
  const socket = await bindAny(port).catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === "EADDRINUSE" ? "another program uses it" : cause.message;
    throw new MediaPortError(`UDP port ${port}, through which calls are to come, cannot be opened: ${why}`, {
      cause,
    });
  });
  let isHeld = true;
  socket.on("message", (message, from) => {
    const answer = stunAnswer(message, from);
    if (answer && isHeld) socket.send(answer, from.port, from.address, () => undefined);
  });
  socket.on("error", () => undefined); // of an answer that could not be sent
  socket.unref();
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      socket.close();
    },
  };
}

/** Every address, as calls will have it. */
async function bindAny(port: number): Promise<Socket> {
  return bind("udp6", port).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EADDRINUSE") throw error;
    return bind("udp4", port); // a machine without IPv6
  });
}

async function bind(type: "udp4" | "udp6", port: number): Promise<Socket> {
  const socket = createSocket(type);
  try {
    socket.bind(port);
    await once(socket, "listening");
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
}
