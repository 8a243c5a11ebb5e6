import { defineCommand } from "../define-command.ts";
import { operateOptions } from "../operate/operate-options.ts";

export const networkPolicyCommands = [
  defineCommand({
    name: "network-policy show",
    summary: "print the rules around bots in containers",
    description:
      "Bots in containers are to reach the internet, but neither this machine, nor private networks, nor each other. Prints " +
      "the nftables rules that see to it, for the network that the service's bots are in. Changes nothing.",
    options: operateOptions,
    examples: [
      {
        line: "vocalhost network-policy show > /etc/nftables.d/vocalhost.nft",
        about: "for the machine's own firewall to load",
      },
      { line: "vocalhost network-policy show | sudo nft -f -", about: "what network-policy up does" },
    ],
    load: () => import("../operate/run-network-policy-show.ts"),
  }),
  defineCommand({
    name: "network-policy up",
    summary: "keep bots in containers from this machine",
    description:
      "Loads the rules that network-policy show prints, in a table of their own, and has the kernel apply them between bots of one " +
      "bridge too. Needs root and nft. A service that runs as root does it by itself. Calls are not disturbed.",
    options: operateOptions,
    examples: [
      {
        line: "sudo vocalhost network-policy up --settings vocalhost.env",
        about: "of the service with these settings",
      },
    ],
    load: () => import("../operate/run-network-policy-up.ts"),
  }),
  defineCommand({
    name: "network-policy down",
    summary: "remove those rules",
    description:
      "Removes the table. A service that runs as root raises it again within 30 seconds, unless VOCALHOST_CONTAINER_NETWORK_POLICY=off.",
    options: operateOptions,
    examples: [
      { line: "sudo vocalhost network-policy down", about: "bots then reach this machine and each other" },
    ],
    load: () => import("../operate/run-network-policy-down.ts"),
  }),
];
