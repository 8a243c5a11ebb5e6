import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** An address that is moved from one server to another, as a proxy or a cluster's service does. */
export interface VirtualAddress extends AsyncDisposable {
  readonly port: number;
  /** Cuts off connected clients; later ones reach this port. */
  moveTo(port: number): void;
}

export async function openVirtualAddress(first: number): Promise<VirtualAddress> {
  const sockets = new Set<Socket>();
  let target = first;
  const server = createServer((client) => {
    const upstream = connect({ host: "127.0.0.1", port: target });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    moveTo(port) {
      target = port;
      cut();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      cut();
      await once(server, "close");
    },
  };
}
