import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";
import type { Reach } from "./reach.ts";

/** The rules for the bots of one network of a container engine. */
export interface NetworkPolicy {
  /** Its name in the engine. */
  network: string;
  /** The interface on this machine that everything from those bots comes through. */
  bridge: string;
  /** Addresses of this machine on it. Some engines answer questions for names there. */
  gateways: string[];
  /** The DNS servers of this machine, which bots use as well. */
  resolvers: string[];
  reach: Reach[];
  /** Ports of this machine that are the service's own, and others at each of its starts. */
  own?: readonly HostPort[];
}

export interface HostPort {
  protocol: "tcp" | "udp";
  port: number;
}

// Ranges that are not part of the internet.
const PRIVATE_V4 =
  "0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16, " +
  "198.18.0.0/15, 224.0.0.0/3";
const PRIVATE_V6 = "::/127, 64:ff9b:1::/48, fc00::/7, fe80::/10, ff00::/8";
const ANY_PORT_53 = "meta l4proto { tcp, udp } th dport 53 accept";

export function tableOf({ network }: Pick<NetworkPolicy, "network">): string {
  return `vocalhost_${network.replace(/\W/g, "_")}`;
}

/** Written into the rules, so that a program that does not know the service's own ports can tell which rules they are. */
export function markOf(networkPolicy: NetworkPolicy): string {
  const settled = JSON.stringify({ ...networkPolicy, own: undefined });
  return `vocalhost ${createHash("sha256").update(settled).digest("hex").slice(0, 12)}`;
}

export function ruleFor({ protocol, port }: HostPort): string {
  return `${protocol} dport ${port} accept`;
}

/** Returns a file for `nft -f`. Loading it again replaces these rules and touches no others. */
export function networkPolicyRules(networkPolicy: NetworkPolicy): string {
  const table = `table inet ${tableOf(networkPolicy)}`;
  const { bridge } = networkPolicy;
  const refuse = "reject with icmpx admin-prohibited";
  return [
    "# What bots in containers may reach. Bots of one bridge meet each other below these rules unless",
    "#   sysctl -w net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1",
    "# (after modprobe br_netfilter) takes them through here.",
    table,
    `delete ${table}`,
    `${table} {`,
    "  chain to_this_machine {",
    "    type filter hook input priority -10; policy accept;",
    `    iifname != "${bridge}" accept`,
    "    ct state established,related accept",
    "    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit } accept",
    ...networkPolicy.gateways.map((address) => `    ${destination(address)} ${ANY_PORT_53}`),
    ...networkPolicy.reach.flatMap((each) => (each.kind === "host" ? [`    ${ruleFor(each)}`] : [])),
    ...(networkPolicy.own ?? []).map((each) => `    ${ruleFor(each)}`),
    `    ${refuse} comment "${markOf(networkPolicy)}"`,
    "  }",
    "  chain beyond {",
    "    type filter hook forward priority -10; policy accept;",
    `    iifname != "${bridge}" accept`,
    "    ct state established,related accept",
    `    oifname "${bridge}" ${refuse}`,
    ...networkPolicy.resolvers.map((address) => `    ${destination(address)} ${ANY_PORT_53}`),
    ...networkPolicy.reach.flatMap((each) => (each.kind === "network" ? [`    ${reached(each)}`] : [])),
    `    ip daddr { ${PRIVATE_V4} } ${refuse}`,
    `    ip6 daddr { ${PRIVATE_V6} } ${refuse}`,
    "  }",
    "}",
    "",
  ].join("\n");
}

function reached({ addresses, port }: Reach & { kind: "network" }): string {
  const ports = port === undefined ? "" : `meta l4proto { tcp, udp } th dport ${port} `;
  return `${destination(addresses)} ${ports}accept`;
}

function destination(addresses: string): string {
  return `${isIPv6(addresses.replace(/\/.*$/, "")) ? "ip6" : "ip"} daddr ${addresses}`;
}
