import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeWay, parseHierarchies } from "./cgroup-hierarchies.ts";

test("version 1 has a tree for each controller", () => {
  const mounts = `
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:1 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices`;
  assert.deepEqual(parseHierarchies(mounts, "4:memory:/a:b/c\n2:cpu,cpuacct:/\n1:name=systemd:/x\n"), [
    { version: 1, controllers: ["cpu"], folder: "/sys/fs/cgroup/cpu,cpuacct/" },
    { version: 1, controllers: ["memory"], folder: "/sys/fs/cgroup/memory/a:b/c" },
  ]);
});

test("version 2 has one tree; a container sees a part of it", () => {
  const whole = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate";
  assert.deepEqual(parseHierarchies(whole, "0::/system.slice/vocalhost.service\n"), [
    {
      version: 2,
      controllers: ["cpu", "memory", "pids"],
      folder: "/sys/fs/cgroup/system.slice/vocalhost.service",
    },
  ]);
  const part = "29 23 0:26 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw";
  assert.equal(parseHierarchies(part, "0::/docker/1/inner\n")[0]?.folder, "/sys/fs/cgroup/inner");
});

test("a service that has moved below the group it was given makes groups in that one", () => {
  const mount = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate";
  const [hierarchy] = parseHierarchies(mount, "0::/system.slice/vocalhost.service/vocalhost-service\n");
  assert.equal(hierarchy?.folder, "/sys/fs/cgroup/system.slice/vocalhost.service");
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
  assert.deepEqual(parseHierarchies("", ""), []);
  assert.deepEqual(parseHierarchies("1 2 0:1 / / rw - ext4 /dev/vda rw", "0::/\n"), []);
});
