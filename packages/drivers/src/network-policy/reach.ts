import { isIP } from "node:net";

/** A destination outside the internet that bots may reach. */
export type Reach =
  /** A port of this machine. */
  | { kind: "host"; protocol: "tcp" | "udp"; port: number }
  /** Machines of a private network; without a port all of theirs. */
  | { kind: "network"; addresses: string; port: number | undefined };

const HOST = /^host:(\d{1,5})(?:\/(tcp|udp))?$/;
const V4 = /^([\d.]+(?:\/\d{1,2})?)(?::(\d{1,5}))?$/;
const V6_WITH_PORT = /^\[([\da-f:.]+)\]:(\d{1,5})$/i;
const PORT_MAX = 65_535;

/** `host:443`, `host:3478/udp`, `10.0.5.0/24`, `10.0.5.7:8000`, `fd00::/8`, `[fd00::1]:8000` */
export function parseReach(text: string): Reach {
  const [, hostPort, protocol = "tcp"] = HOST.exec(text) ?? [];
  if (hostPort !== undefined && isPort(hostPort))
    return { kind: "host", protocol: protocol as "tcp" | "udp", port: Number(hostPort) };
  const [, addresses = text, port] = V4.exec(text) ?? V6_WITH_PORT.exec(text) ?? [];
  if (isNetwork(addresses) && (port === undefined || isPort(port)))
    return { kind: "network", addresses, port: port === undefined ? undefined : Number(port) };
  throw new Error(
    `"${text}" is nothing that bots could reach; write a port of this machine (host:443, host:3478/udp) or ` +
      "addresses (10.0.5.0/24, 10.0.5.7:8000, [fd00::1]:8000)",
  );
}

function isNetwork(text: string): boolean {
  const [address = "", bits, more] = text.split("/");
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function isPort(text: string): boolean {
  return Number(text) >= 1 && Number(text) <= PORT_MAX;
}
