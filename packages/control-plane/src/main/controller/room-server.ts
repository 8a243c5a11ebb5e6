import type { Driver, HostSide } from "@vocalhost/drivers/driver";

/** Where our own room server is. */
export interface RoomServerAddresses {
  /** `host:port` for us. */
  address: string;
  /** For bots that have a network of their own: signalling, and media over UDP. */
  botPort?: number;
  udpPort?: number;
}

export interface RoomServer {
  /** `ws://…` for us, and for bots that are on this machine as we are. */
  url: string;
  /** The same for bots that see this machine at this address. */
  urlAt(address: string): string;
}

/** Has whoever started us start our own room server, with this secret and a way in at these addresses. */
export type OpenRoomServer = (options: {
  apiSecret: string;
  botAddresses: string[];
}) => Promise<RoomServerAddresses>;

/** This machine, as all instances see it that have a network of their own. */
export function hostsOf({ host, regional }: Driver): HostSide[] {
  if (!regional) return host ? [host] : [];
  const away = regional.away();
  return regional.codes.flatMap((code) => (away.has(code) ? [] : (regional.in(code).host ?? [])));
}

/** Our own room server, and the way to it for bots in networks of their own. */
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
