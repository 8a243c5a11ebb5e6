import { once } from "node:events";
import { createServer } from "node:http";
import { isIPv6 } from "node:net";
import { closeServer } from "./close-server.ts";
import type { RtcEndpoint } from "./rtc-endpoint.ts";
import type { BotDoor } from "./settings.ts";

const NOT_FOUND = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";

export interface BotDoorOptions {
  rtc: RtcEndpoint;
  door: BotDoor;
  /** Where media is, when it is not on every address. */
  mediaAddress: string | undefined;
}

/**
 * Bridges of container engines come and go with their containers, so nothing can listen on their addresses alone: it
 * listens on all, and looks which one a connection came to.
 */
export async function openBotDoor({ rtc, door, mediaAddress }: BotDoorOptions): Promise<AsyncDisposable> {
  const addresses = new Set(door.addresses);
  const server = createServer((request, response) => {
    if (!rtc.handleRequest(request, response)) response.writeHead(404).end();
  });
  server.on("connection", (socket) => {
    if (!addresses.has(plain(socket.localAddress))) socket.destroy();
  });
  server.on("upgrade", (request, socket, head) => {
    const reached = plain(request.socket.localAddress);
    if (!rtc.handleUpgrade(request, socket, head, mediaAddress ?? reached)) socket.end(NOT_FOUND);
  });
  server.listen(door.port, door.addresses.some((address) => isIPv6(address)) ? "::" : "0.0.0.0");
  await once(server, "listening");
  return { [Symbol.asyncDispose]: () => closeServer(server) };
}

/** A socket for both families writes addresses of the older one in the newer one's way. */
function plain(address = ""): string {
  return address.replace(/^::ffff:/i, "");
}
