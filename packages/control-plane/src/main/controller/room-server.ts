import type { Driver, HostSide } from "@vocalhost/drivers/driver";

/** Addresses of our own room server. */
export interface RoomServerAddresses {
  /** `host:port`, for the service. */
  address: string;
  /** For bots with their own network: signalling, and media over UDP. */
  botPort?: number;
  udpPort?: number;
}

export interface RoomServer {
  /** `ws://…`, for the service and for bots in the machine's own network. */
  url: string;
  /** Returns the URL for bots that reach this machine at this address. */
  urlAt(address: string): string;
}

/** Asks the supervisor to start our own room server with this secret, reachable at these addresses. */
export type OpenRoomServer = (options: {
  apiSecret: string;
  botAddresses: string[];
}) => Promise<RoomServerAddresses>;

/** Returns this machine's addresses as instances with their own network reach them. */
export function hostsOf({ host, regional }: Driver): HostSide[] {
  if (!regional) return host ? [host] : [];
  const away = regional.away();
  return regional.codes.flatMap((code) => (away.has(code) ? [] : (regional.in(code).host ?? [])));
}

/** Opens our own room server, and the route to it for bots with their own network. */
export async function openRoomServer(
  open: OpenRoomServer,
  { apiSecret, hosts }: { apiSecret: string; hosts: readonly HostSide[] },
): Promise<RoomServer> {
  const botAddresses = await Promise.all(hosts.map((host) => host.address()));
  const { address, botPort, udpPort } = await open({ apiSecret, botAddresses });
  const ports: Parameters<HostSide["open"]>[0] = [
    ...(botPort === undefined ? [] : [{ protocol: "tcp" as const, port: botPort }]),
    ...(udpPort === undefined ? [] : [{ protocol: "udp" as const, port: udpPort }]),
  ];
  await Promise.all(hosts.map((host) => host.open(ports)));
  return {
    url: `ws://${address}`,
    urlAt: (seen) => `ws://${seen.includes(":") ? `[${seen}]` : seen}:${botPort}`,
  };
}
