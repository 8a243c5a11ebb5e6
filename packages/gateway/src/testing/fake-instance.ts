import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";

/** A server in place of an instance. */
export interface Listener extends AsyncDisposable {
  /** `host:port` */
  readonly address: string;
  /** Connections so far. */
  readonly connections: number;
  /** Destroys every connection immediately, as the death of its process would. */
  kill(): Promise<void>;
}

export interface FakeInstance extends Listener {
  readonly requests: IncomingMessage[];
  readonly sockets: WebSocket[];
}

export interface FakeInstanceOptions {
  onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
  /** @default echoes */
  onSocket?: (socket: WebSocket, request: IncomingMessage) => void;
  protocol?: string;
}

/** Starts a well-behaved session server. */
export async function startFakeInstance(options: FakeInstanceOptions = {}): Promise<FakeInstance> {
  const requests: IncomingMessage[] = [];
  const sockets: WebSocket[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    if (options.onRequest) options.onRequest(request, response);
    else response.end("hello");
  });
  const upgrades = new WebSocketServer({
    server,
    maxPayload: 16 * 1024 * 1024,
    ...(options.protocol === undefined ? {} : { handleProtocols: () => options.protocol ?? false }),
  });
  upgrades.on("connection", (socket, request) => {
    requests.push(request);
    sockets.push(socket);
    socket.on("error", () => undefined);
    if (options.onSocket) options.onSocket(socket, request);
    else socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  const listener = await listen(server);
  return Object.assign(listener, { requests, sockets });
}

/** Starts a TCP server that passes its connections to a hostile bot. */
export function startRawInstance(onConnection: (socket: Socket) => void): Promise<Listener> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    onConnection(socket);
  });
  return listen(server);
}

async function listen(server: ReturnType<typeof createTcpServer>): Promise<Listener> {
  const open = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const kill = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of open) {
      if (socket.writableEnded) socket.destroy(); // resetting it here would leave its handle open for ever
      else socket.resetAndDestroy();
    }
    await closed;
  };
  return {
    address: `127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
