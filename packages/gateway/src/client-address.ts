import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

/**
 * Who sent a request: the one address everything that counts by caller goes by. A proxy adds the address it saw at the
 * end of `x-forwarded-for`; what stands before it anybody may have written.
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

/** Without brackets, port, zone or the disguise of IPv4 as IPv6; undefined if it is no address. */
function plainAddress(text: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*$/, "").replace(/^::ffff:(?=[\d.]+$)/i, "");
  return isIP(address) === 0 ? undefined : address.toLowerCase();
}

export function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}
