import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/**
 * Returns the address used for every limit per client. A proxy appends the address it saw to `x-forwarded-for`; a
 * client may have forged the entries before it.
 */
export function clientAddress(
  { headers, socket }: Pick<IncomingMessage, "headers" | "socket">,
  { trustForwarded }: { trustForwarded: boolean },
): string {
  const seen = plainAddress(socket.remoteAddress ?? "") ?? "";
  const told = trustForwarded ? headers["x-forwarded-for"] : undefined;
  const last = (Array.isArray(told) ? told.join(",") : (told ?? "")).split(",").at(-1) ?? "";
  return plainAddress(last.trim()) ?? seen;
}

/** Removes brackets, port, zone and the IPv4-in-IPv6 prefix. Returns undefined if the rest is no address. */
function plainAddress(text: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*$/, "").replace(/^::ffff:(?=[\d.]+$)/i, "");
  return isIP(address) === 0 ? undefined : address.toLowerCase();
}

export function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}
