import type { Server } from "node:http";
import { isLoopback } from "./client-address.ts";

/** Limits the connections of one address. A proxy on this machine is exempt, because it counts its own clients. */
export function limitConnectionsPerAddress(
  server: Pick<Server, "on">,
  { max, isExempt = isLoopback }: { max: number; isExempt?(address: string): boolean },
): void {
  const open = new Map<string, number>();
  server.on("connection", (socket) => {
    const address = socket.remoteAddress ?? "";
    if (isExempt(address.replace(/^::ffff:/i, ""))) return;
    const others = open.get(address) ?? 0;
    if (others >= max) {
      socket.destroy();
      return;
    }
    open.set(address, others + 1);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}
