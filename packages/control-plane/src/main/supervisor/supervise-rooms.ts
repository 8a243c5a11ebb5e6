import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { RoomServerAddresses } from "../controller/room-server.ts";
import { supervise, type Supervised, type SupervisedOptions } from "./supervise.ts";

/** Our room server in its own process, started when the first session needs a room. */
export interface SupervisedRooms extends Supervised {
  /** The same after every restart. */
  readonly addresses: RoomServerAddresses;
}

export async function superviseRooms(
  options: Omit<SupervisedOptions, "name" | "file"> & {
    apiSecret: string;
    /** Addresses of this machine for bots with their own network. */
    botAddresses: string[];
  },
): Promise<SupervisedRooms> {
  const { apiSecret, botAddresses, environment, ...rest } = options;
  const set = (name: string): string | undefined => environment[`VOCALHOST_ROOMS_${name}`] || undefined;
  // A free port unless configured: several services may share a machine.
  const address = set("LISTEN") ?? `127.0.0.1:${await freePort()}`;
  const forBots = botAddresses.length > 0;
  const addresses = {
    address,
    ...(forBots
      ? {
          botPort: Number(set("BOT_PORT") ?? (await freePort())),
          udpPort: Number(set("UDP_PORT") ?? (await freeUdpPort())),
        }
      : {}),
  };
  const { botPort, udpPort = 0 } = addresses;
  const supervised = supervise({
    ...rest,
    name: "rooms",
    file: fileURLToPath(import.meta.resolve("@vocalhost/rooms/main")),
    environment: {
      VOCALHOST_ROOMS_UDP_PORT: String(udpPort),
      ...environment,
      ...(forBots
        ? {
            VOCALHOST_ROOMS_BOT_ADDRESSES: botAddresses.join(","),
            VOCALHOST_ROOMS_BOT_PORT: String(botPort),
          }
        : {}),
      VOCALHOST_ROOMS_LISTEN: address,
      VOCALHOST_ROOMS_KEEP_DELETED_CLOSED: "1", // clients' tokens are valid for longer than their sessions
      VOCALHOST_ROOMS_API_KEY: "vocalhost",
      VOCALHOST_ROOMS_API_SECRET: apiSecret,
    },
  });
  return Object.defineProperty(supervised, "addresses", { value: addresses }) as SupervisedRooms;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket("udp4");
  socket.bind(0);
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  await once(socket, "close");
  return port;
}
