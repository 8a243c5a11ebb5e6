import { stunAnswer, type MediaProbe } from "@vocalhost/protocol";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { MediaConfig } from "@vocalhost/drivers/media-config";
import type { BorrowedPort, MediaPorts } from "../../pools/media-ports.ts";
import type { Store } from "@vocalhost/store/store";

export interface ProbeOptions {
  store: Store;
  media: MediaConfig;
  mediaPorts: MediaPorts;
}

const LISTEN_MS = 10_000;

/**
 * Returns a function that names a UDP port with a listener: an idle instance's, else one opened for 10 s. A person
 * elsewhere can thereby verify that callers reach this machine.
 */
export function createMediaProbe({ store, media, mediaPorts }: ProbeOptions): () => Promise<MediaProbe> {
  let listening: Promise<number | undefined> | undefined; // concurrent requests share one port
  return async () => {
    const known = { addresses: media.addresses, ports: media.ports ?? null };
    if (!media.ports) return { ...known, port: null, answeredBy: "nobody" };
    const idle = await store.db
      .selectFrom("instances")
      .select("mediaPort")
      .where("state", "=", "ready")
      .where("sessionId", "is", null)
      .where("mediaPort", "is not", null)
      .orderBy("createdAt") // later ones may be paused
      .limit(1)
      .executeTakeFirst();
    if (idle) return { ...known, port: idle.mediaPort, answeredBy: "instance" };
    listening ??= listen(() => (listening = undefined));
    const port = await listening;
    return port === undefined
      ? { ...known, port: null, answeredBy: "nobody" }
      : { ...known, port, answeredBy: "listener" };
  };

  async function listen(over: () => void): Promise<number | undefined> {
    const borrowed = await mediaPorts.borrow(store.db);
    if (!borrowed || !(await answerFor(borrowed, over))) {
      borrowed?.[Symbol.dispose]();
      over();
      return undefined;
    }
    return borrowed.port;
  }
}

/** Returns false if another program has the port. */
async function answerFor(borrowed: BorrowedPort, over: () => void): Promise<boolean> {
  const socket = createSocket("udp4");
  socket.on("message", (message, from) => {
    const answer = stunAnswer(message, from);
    if (answer) socket.send(answer, from.port, from.address, () => undefined);
  });
  try {
    socket.bind(borrowed.port);
    await once(socket, "listening");
  } catch {
    socket.close();
    return false;
  }
  socket.on("error", () => undefined); // of an answer that could not be sent
  socket.unref();
  setTimeout(() => {
    socket.close(() => borrowed[Symbol.dispose]());
    over();
  }, LISTEN_MS).unref();
  return true;
}
