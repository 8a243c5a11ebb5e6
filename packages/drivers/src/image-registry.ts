import { BlockList, isIPv6 } from "node:net";

/** The registry's `host[:port]` if the reference names one. */
export function registryOf(reference: string): string | undefined {
  const [first = "", ...rest] = reference.split("/");
  if (rest.length === 0) return undefined;
  return first.includes(".") || first.includes(":") || first === "localhost" ? first : undefined;
}

/** Inside our own network, where a pull would reach what callers must not. */
export function isInternalRegistry(registry: string): boolean {
  const host = registry.replace(/:[0-9]+$/, "").toLowerCase();
  if (/^[0-9.]+$/.test(host)) return true; // addresses by number, in whatever notation
  if (!host.includes(".") || host.startsWith("[")) return true;
  return /\.(local|localhost|internal|intranet|lan|home|corp|svc|cluster)\.?$/.test(host);
}

/** Judges a registry by its name and by each address that the name resolves to. Listed registries are always allowed. */
export function registryReach(listed: readonly string[]) {
  return ({ host }: URL, address?: string): boolean =>
    listed.includes(host) || !(address === undefined ? isInternalRegistry(host) : isInternalAddress(address));
}

const internalNetworks = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const)
  internalNetworks.addSubnet(network, bits, "ipv4");
for (const [network, bits] of [
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16], // with an IPv4 address inside
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const)
  internalNetworks.addSubnet(network, bits, "ipv6");

const TRANSLATED = /^64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i;

function isInternalAddress(address: string): boolean {
  const [translated, ...groups] = TRANSLATED.exec(address) ?? []; // how networks without IPv4 reach it
  if (translated !== undefined) {
    const bytes = groups.map((group) => Number.parseInt(group, 16)).flatMap((two) => [two >> 8, two & 255]);
    return internalNetworks.check(bytes.join("."), "ipv4");
  }
  return internalNetworks.check(address, isIPv6(address) ? "ipv6" : "ipv4"); // also of IPv4 as IPv6
}
