import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer, type ClientOptions } from "ws";

/** Both ends of a real WebSocket. */
export interface SocketPair extends AsyncDisposable {
  readonly server: WebSocket;
  readonly client: WebSocket;
  /** Resolves with the close code that the client received. */
  clientClosed(): Promise<number>;
}

export async function openSocketPair(options: ClientOptions = {}): Promise<SocketPair> {
  const listener = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}`, options);
  client.on("error", () => undefined);
  const clientClosed = once(client, "close") as Promise<[number]>;
  const [[server]] = (await Promise.all([once(listener, "connection"), once(client, "open")])) as [
    [WebSocket],
    unknown,
  ];
  const serverClosed = once(server, "close");
  return {
    server,
    client,
    clientClosed: async () => (await clientClosed)[0],
    async [Symbol.asyncDispose]() {
      client.terminate();
      server.terminate();
      await Promise.all([clientClosed, serverClosed]);
      listener.close();
      await once(listener, "close");
    },
  };
}
