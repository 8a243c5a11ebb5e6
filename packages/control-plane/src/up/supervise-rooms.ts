import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { supervise, type Supervised, type SupervisedOptions } from "./supervise.ts";

/** Our room server in a process of its own, started when the first session wants a room. */
export interface SupervisedRooms extends Supervised {
  /** `host:port`, the same in all its lives. */
  readonly address: string;
}

export async function superviseRooms(
  options: Omit<SupervisedOptions, "name" | "file"> & { apiSecret: string },
): Promise<SupervisedRooms> {
  const { apiSecret, environment, ...rest } = options;
  const address = environment["VOCALHOST_ROOMS_LISTEN"] || `127.0.0.1:${await freePort()}`;
  const supervised = supervise({
    ...rest,
    name: "rooms",
    file: fileURLToPath(import.meta.resolve("@vocalhost/rooms/main")),
    environment: {
      // Free unless it was said: several services may share a machine.
      VOCALHOST_ROOMS_UDP_PORT: "0",
      ...environment,
      VOCALHOST_ROOMS_LISTEN: address,
      VOCALHOST_ROOMS_API_KEY: "vocalhost",
      VOCALHOST_ROOMS_API_SECRET: apiSecret,
    },
  });
  return Object.defineProperty(supervised, "address", { value: address }) as SupervisedRooms;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
