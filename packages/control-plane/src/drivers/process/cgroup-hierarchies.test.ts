import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHierarchies } from "./cgroup-hierarchies.ts";

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

test("machines without them", () => {
  assert.deepEqual(parseHierarchies("", ""), []);
  assert.deepEqual(parseHierarchies("1 2 0:1 / / rw - ext4 /dev/vda rw", "0::/\n"), []);
});
