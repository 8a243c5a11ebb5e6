import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { UserRange } from "./own-users.ts";

const SIZE = 65_536;
// Above what systemd, subordinate ids and directory services (LDAP, Active Directory) hand out by default, and below the
// numbers that systemd gives away again. The low ones are for user namespaces, which often have no others.
const HIGH: UserRange = { first: 2_013_265_920, last: 2_147_352_575 };
const LOW: UserRange = { first: 30_000, last: 59_999 };

export interface IdFiles {
  /** Where `passwd`, `group`, `subuid` and `subgid` are. @default /etc */
  etc?: string;
  /** Where `uid_map` and `gid_map` are. @default /proc/self */
  proc?: string;
}

/**
 * A range of numbers that no user, group or rootless container of this machine has. The same for a data folder each time,
 * and another one for each data folder, so that two services do not share users.
 */
export function findFreeUsers(dataFolder: string, files: IdFiles = {}): UserRange | undefined {
  const { etc = "/etc", proc = "/proc/self" } = files;
  const taken = [
    ...["passwd", "group"].flatMap((name) => numbersIn(`${etc}/${name}`)),
    ...["subuid", "subgid"].flatMap((name) => rangesIn(`${etc}/${name}`)),
  ];
  const maps = ["uid_map", "gid_map"].map((name) => mappedBy(`${proc}/${name}`));
  const isFree = (range: UserRange): boolean =>
    maps.every((map) => map.some((each) => each.first <= range.first && range.last <= each.last)) &&
    !taken.some((each) => each.first <= range.last && range.first <= each.last);
  const count = Math.floor((HIGH.last - HIGH.first + 1) / SIZE);
  const start = createHash("sha256").update(dataFolder).digest().readUInt32BE(0) % count;
  for (let step = 0; step < count; step += 1) {
    const first = HIGH.first + ((start + step) % count) * SIZE;
    const range = { first, last: first + SIZE - 1 };
    if (isFree(range)) return range;
  }
  return isFree(LOW) ? LOW : undefined;
}

function numbersIn(path: string): UserRange[] {
  return fieldsOf(path, ":").map(([, , id]) => ({ first: Number(id), last: Number(id) }));
}

function rangesIn(path: string): UserRange[] {
  return fieldsOf(path, ":").map(([, first, count]) => rangeOf(first, count));
}

function mappedBy(path: string): UserRange[] {
  const fields = fieldsOf(path, /\s+/);
  return fields.length === 0
    ? [rangeOf("0", "4294967295")]
    : fields.map(([first, , count]) => rangeOf(first, count));
}

function rangeOf(first: string | undefined, count: string | undefined): UserRange {
  return { first: Number(first), last: Number(first) + Number(count) - 1 };
}

function fieldsOf(path: string, separator: string | RegExp): string[][] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return []; // most machines have no rootless containers, some no such files at all
  }
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(separator));
}
