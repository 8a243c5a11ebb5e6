import { BlockList, isIP } from "node:net";

const CANDIDATE_MAX_CHARACTERS = 1024;

const PRIVATE_NETWORKS = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["224.0.0.0", 3],
] as const)
  PRIVATE_NETWORKS.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  PRIVATE_NETWORKS.addSubnet(network, prefix, "ipv6");

/**
 * Whether we may send to an address a participant names. Names are never looked up, and private addresses would let
 * a participant probe our network; participants reach us from their real address anyway.
 */
export function isUsableCandidate(candidate: string, { allowPrivate }: { allowPrivate: boolean }): boolean {
  const address = candidate.split(" ", 6)[4];
  if (address === undefined || candidate.length > CANDIDATE_MAX_CHARACTERS) return false;
  const family = isIP(address);
  if (family === 0) return false;
  return allowPrivate || !PRIVATE_NETWORKS.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** Replaces our own addresses by the one participants are told; keeps one candidate per media section. */
export function announceAddress(sdp: string, address: string): string {
  const announced = new Set<string>();
  const lines = sdp.split("\r\n").flatMap((line) => {
    if (line.startsWith("m=")) announced.clear();
    if (!line.startsWith("a=candidate:")) return [line];
    const words = line.split(" ");
    if (words[7] !== "host") return [];
    words[4] = address;
    const key = words.slice(4).join(" ");
    if (announced.has(key)) return [];
    announced.add(key);
    return [words.join(" ")];
  });
  return lines.join("\r\n");
}

/** Removes the candidates from a description. Its reader cannot reach us yet. */
export function withoutCandidates(sdp: string): string {
  return sdp.replace(/^a=(?:candidate:.*|end-of-candidates)\r?\n/gm, "");
}
