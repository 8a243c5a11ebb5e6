import { optionalWord, word } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { operateOptions } from "../operate/operate-options.ts";
import { upOptions } from "../up/up-options.ts";

export const up = defineCommand({
  name: "up",
  summary: "run the service on this machine",
  description:
    "Runs the hosted service: dashboard, REST API, gateway and the agents deployed to it. It stays in the " +
    "foreground; Ctrl-C shuts it down cleanly. The first start creates keys, shows them once and signs you in. All settings are " +
    "environment variables, such as VOCALHOST_DATABASE_URL; the options here cover the common ones.",
  options: upOptions,
  examples: [
    { line: "vocalhost up", about: "at http://localhost:7870, kept in a folder of your user" },
    { line: "vocalhost up --port 8080 --data-dir /var/lib/vocalhost", about: "elsewhere" },
    {
      line: "vocalhost up --host 0.0.0.0 --public-url https://voice.example.com",
      about: "behind your TLS proxy",
    },
    { line: "vocalhost up --settings vocalhost.env", about: "with settings from a file" },
  ],
  load: async () => (await import("../up/run-up.ts")).run,
});

export const backupCommands = [
  defineCommand({
    name: "backup",
    summary: "back up the service on this machine",
    description:
      "Writes one archive with everything needed to run the service elsewhere: its database as of one moment, its keys " +
      "and the builds of its agents. The service may be running, and calls are not disturbed. Keep the archive safe: it contains " +
      "every secret in readable form.",
    arguments: { file: optionalWord({ help: "archive to write (default: vocalhost-<time>.tar.gz)" }) },
    options: operateOptions,
    examples: [
      { line: "vocalhost backup", about: "of the service that vocalhost up runs" },
      {
        line: "vocalhost backup /backups/monday.tar.gz --data-dir /var/lib/vocalhost",
        about: "of another one, to a name of yours",
      },
    ],
    load: async () => (await import("../operate/operations.ts")).backup,
  }),
  defineCommand({
    name: "restore",
    summary: "restore a backup into an empty data folder",
    description:
      "Unpacks a backup into a data folder without data, or into an empty database if VOCALHOST_DATABASE_URL is set. " +
      "Restoring never overwrites data. Calls that ran at the time of the backup are ended; everything else is as it was.",
    arguments: { file: word({ help: "archive that vocalhost backup wrote" }) },
    options: operateOptions,
    examples: [
      {
        line: "vocalhost restore monday.tar.gz --data-dir /var/lib/vocalhost",
        about: "then: vocalhost up --data-dir /var/lib/vocalhost",
      },
    ],
    load: async () => (await import("../operate/operations.ts")).restore,
  }),
  defineCommand({
    name: "store copy",
    summary: "move from SQLite to Postgres",
    description:
      "Copies the SQLite file of the data folder into the empty database that VOCALHOST_DATABASE_URL names. Stop the service " +
      "first. It copies all rows or none.",
    options: operateOptions,
    examples: [
      {
        line: "vocalhost store copy --settings vocalhost.env",
        about: "with VOCALHOST_DATABASE_URL=postgres://… in that file",
      },
    ],
    load: async () => (await import("../operate/operations.ts")).copyStore,
  }),
  defineCommand({
    name: "master-keys rotate",
    summary: "seal all secrets with a new master key",
    description:
      "Adds a new key before the old one to the file master-keys of the data folder, seals every secret with it, and says when " +
      "you may remove the old key. A running service must read the new key first: restart it and run the command again. " +
      "If you set VOCALHOST_MASTER_KEYS, put the new key first there yourself.",
    options: operateOptions,
    examples: [
      {
        line: "vocalhost master-keys rotate --data-dir /var/lib/vocalhost",
        about: "again after an interruption",
      },
    ],
    load: async () => (await import("../operate/operations.ts")).rotateMasterKeys,
  }),
  defineCommand({
    name: "store compact",
    summary: "shrink the SQLite file",
    description:
      "Rewrites the SQLite file of the data folder without the space of deleted rows. Stop the service first. Only files " +
      "from earlier releases need it: newer ones shrink by themselves.",
    options: operateOptions,
    examples: [
      { line: "vocalhost store compact --data-dir /var/lib/vocalhost", about: "while it is stopped" },
    ],
    load: async () => (await import("../operate/operations.ts")).compactStore,
  }),
];

export const networkPolicyCommands = [
  defineCommand({
    name: "network-policy show",
    summary: "print the rules around bots in containers",
    description:
      "Prints the nftables rules for the network of the service's bots. With them, bots in containers reach the internet, " +
      "but not this machine, private networks or each other. Changes nothing.",
    options: operateOptions,
    examples: [
      {
        line: "vocalhost network-policy show > /etc/nftables.d/vocalhost.nft",
        about: "for the machine's own firewall to load",
      },
      { line: "vocalhost network-policy show | sudo nft -f -", about: "what network-policy up does" },
    ],
    load: async () => (await import("../operate/network-policy.ts")).show,
  }),
  defineCommand({
    name: "network-policy up",
    summary: "keep bots in containers from this machine",
    description:
      "Loads the rules that network-policy show prints into their own table, and makes the kernel apply them between bots on " +
      "one bridge too. Needs root and nft. A service that runs as root does this itself. Calls are not disturbed.",
    options: operateOptions,
    examples: [
      {
        line: "sudo vocalhost network-policy up --settings vocalhost.env",
        about: "of the service with these settings",
      },
    ],
    load: async () => (await import("../operate/network-policy.ts")).up,
  }),
  defineCommand({
    name: "network-policy down",
    summary: "remove those rules",
    description:
      "Removes the table. A service that runs as root loads it again within 30 seconds, unless VOCALHOST_CONTAINER_NETWORK_POLICY=off.",
    options: operateOptions,
    examples: [
      { line: "sudo vocalhost network-policy down", about: "bots then reach this machine and each other" },
    ],
    load: async () => (await import("../operate/network-policy.ts")).down,
  }),
];
