import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Stands before a room server's HTTP port, so that sockets can be dropped under a client. Media goes its own way. */
export interface SignalProxy extends AsyncDisposable {
  readonly url: string;
  /** Resets every socket; the next ones go through again. */
  drop(): void;
  /** Sockets that were opened so far. */
  readonly opened: number;
}

export async function openSignalProxy(to: string): Promise<SignalProxy> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  let opened = 0;
  const server = createServer((near) => {
    opened += 1;
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    drop() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    get opened() {
      return opened;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
