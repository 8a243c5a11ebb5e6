import { stunAnswer } from "@vocalhost/protocol";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { MediaPortError } from "./media-port-error.ts";

/** Holds a UDP port for a future call, and answers probes that check whether it is reachable. */
export interface HeldPort {
  /** Releases the port; called before a call opens it. */
  release(): void;
}

/** Rejects with a `MediaPortError` when the port is not available. */
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
  socket.on("error", () => undefined); // an answer could not be sent
  socket.unref();
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      socket.close();
    },
  };
}

/** Binds all addresses, as calls will. */
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
