import { optionalWord, word } from "../command-option.ts";
import { defineCommand } from "../define-command.ts";
import { operateOptions } from "../operate/operate-options.ts";

export const backupCommands = [
  defineCommand({
    name: "backup",
    summary: "back up the service on this machine",
    description:
      "Writes one archive with everything needed to run the service elsewhere: its database as of one moment, its keys " +
      "and the builds of its agents. The service may be running; calls are not disturbed. Whoever has the archive can read " +
      "every secret in it.",
    arguments: { file: optionalWord({ help: "archive to write (default: vocalhost-<time>.tar.gz)" }) },
    options: operateOptions,
    examples: [
      { line: "vocalhost backup", about: "of the service that vocalhost up runs" },
      {
        line: "vocalhost backup /backups/monday.tar.gz --data-dir /var/lib/vocalhost",
        about: "of another one, to a name of yours",
      },
    ],
    load: () => import("../operate/run-backup.ts"),
  }),
  defineCommand({
    name: "restore",
    summary: "restore a backup into an empty data folder",
    description:
      "Unpacks a backup into a data folder without data, or into an empty database if VOCALHOST_DATABASE_URL is set. " +
      "Nothing is ever overwritten. Calls that were running at the time of the backup end; everything else is as it was.",
    arguments: { file: word({ help: "archive that vocalhost backup wrote" }) },
    options: operateOptions,
    examples: [
      {
        line: "vocalhost restore monday.tar.gz --data-dir /var/lib/vocalhost",
        about: "then: vocalhost up --data-dir /var/lib/vocalhost",
      },
    ],
    load: () => import("../operate/run-restore.ts"),
  }),
  defineCommand({
    name: "store copy",
    summary: "move from SQLite to Postgres",
    description:
      "Copies the SQLite file of the data folder into the empty database that VOCALHOST_DATABASE_URL names. Stop the service " +
      "first. All rows arrive, or none.",
    options: operateOptions,
    examples: [
      {
        line: "vocalhost store copy --settings vocalhost.env",
        about: "with VOCALHOST_DATABASE_URL=postgres://… in that file",
      },
    ],
    load: () => import("../operate/run-store-copy.ts"),
  }),
  defineCommand({
    name: "master-keys rotate",
    summary: "seal all secrets with a new master key",
    description:
      "Puts a new key before the old one in the file master-keys of the data folder, seals every secret with it, and says when the " +
      "old key may go. A running service must read the new key first: the command says so, and goes on when it is run again. " +
      "With VOCALHOST_MASTER_KEYS put the new key first in that setting yourself.",
    options: operateOptions,
    examples: [
      {
        line: "vocalhost master-keys rotate --data-dir /var/lib/vocalhost",
        about: "again after an interruption",
      },
    ],
    load: () => import("../operate/run-master-keys-rotate.ts"),
  }),
  defineCommand({
    name: "store compact",
    summary: "shrink the SQLite file",
    description:
      "Rewrites the SQLite file of the data folder without the space that deleted rows left. Stop the service first. New files " +
      "shrink by themselves; this is for those that earlier releases made.",
    options: operateOptions,
    examples: [
      { line: "vocalhost store compact --data-dir /var/lib/vocalhost", about: "while it is stopped" },
    ],
    load: () => import("../operate/run-store-compact.ts"),
  }),
];
