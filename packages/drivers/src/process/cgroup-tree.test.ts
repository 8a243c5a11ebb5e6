import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { groupIn, makeWay } from "./cgroup-tree.ts";

const WHOLE = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate";

test("version 2 has one tree; a container sees a part of it", () => {
  assert.equal(
    groupIn(WHOLE, "0::/system.slice/vocalhost.service\n"),
    "/sys/fs/cgroup/system.slice/vocalhost.service",
  );
  const part = "29 23 0:26 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw";
  assert.equal(groupIn(part, "0::/docker/1/inner\n"), "/sys/fs/cgroup/inner");
});

test("beside version 1 it has a place of its own", () => {
  const mounts = `
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/unified rw,relatime shared:1 - cgroup2 cgroup2 rw`;
  assert.equal(groupIn(mounts, "4:memory:/a:b/c\n0::/a:b/d\n"), "/sys/fs/cgroup/unified/a:b/d");
});

test("a service that has moved below the group it was given makes groups in that one", () => {
  assert.equal(
    groupIn(WHOLE, "0::/system.slice/vocalhost.service/vocalhost-service\n"),
    "/sys/fs/cgroup/system.slice/vocalhost.service",
  );
});

const unified = readFileSync("/proc/mounts", "utf8").match(/^\S+ (\S+) cgroup2 /m)?.[1];
const group = join(unified ?? "", `vocalhost-test-${randomUUID().slice(0, 8)}`);
const skip = unified !== undefined && canMake(group) ? false : "no groups of version 2 can be made here";

test("processes of a group that hands controllers down move below it", { skip }, async () => {
  const child = spawn("sleep", ["60"]);
  try {
    mkdirSync(group);
    writeFileSync(join(group, "cgroup.procs"), String(child.pid));
    await makeWay(group);
    assert.equal(readFileSync(join(group, "cgroup.procs"), "utf8"), "");
    assert.equal(readFileSync(join(group, "vocalhost-service/cgroup.procs"), "utf8"), `${child.pid}\n`);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
    for (const folder of [join(group, "vocalhost-service"), group]) rmdirSync(folder);
  }
});

function canMake(folder: string): boolean {
  try {
    mkdirSync(folder);
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

test("machines without them", () => {
  assert.equal(groupIn("", ""), undefined);
  assert.equal(groupIn("1 2 0:1 / / rw - ext4 /dev/vda rw", "0::/\n"), undefined);
  const first = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory";
  assert.equal(groupIn(first, "4:memory:/a:b/c\n"), undefined);
});
