import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Where a server of a test is reached. */
export interface LoopbackServer extends AsyncDisposable {
  port: number;
  /** Address and port. */
  host: string;
  url: string;
}

/** Puts a server on a free port of this machine; it closes together with whatever is still connected. */
export async function listenOnLoopback(server: Server): Promise<LoopbackServer> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
