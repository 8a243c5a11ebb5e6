import { mkdir, readFile, rmdir, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export type Controller = "cpu" | "memory" | "pids";

/** The control groups of version 2 that the service may make. */
export interface CgroupTree {
  /** The service's folder, below the group that the service runs in, whose limits hold for all in it. */
  folder: string;
  /** None where version 1 has them all: groups then still know what is in them. */
  controllers: Controller[];
}

/** Makes the service's folder, which exists only while it holds groups. */
export async function makeOurs({ folder, controllers }: CgroupTree): Promise<void> {
  await mkdir(folder, { recursive: true });
  await handDown(folder, controllers);
}

/** Holds the service itself, in a group that was delegated to it. */
const SERVICE_GROUP = "vocalhost-service";
const MOVE_ROUNDS = 5; // a process may start another while it is moved

const CONTROLLERS: readonly Controller[] = ["cpu", "memory", "pids"];

/** Finds the place for groups; undefined where the machine allows none, which is no error. */
export async function findTree(name: string): Promise<CgroupTree | undefined> {
  try {
    const [mounts, groups] = await Promise.all([
      readFile("/proc/self/mountinfo", "utf8"),
      readFile("/proc/self/cgroup", "utf8"),
    ]);
    const group = groupIn(mounts, groups);
    if (group === undefined) return undefined;
    const tree = { folder: join(group, name), controllers: await offeredTo(group) };
    await makeOurs(tree);
    await rmdir(tree.folder).catch(() => undefined); // unless there is something in it
    return tree;
  } catch {
    return undefined; // the service may not change it
  }
}

/** The folder of a process's group, of which these are the mounts and groups. */
export function groupIn(mountinfo: string, cgroup: string): string | undefined {
  const [, root = "/", mount] = /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(mountinfo) ?? [];
  const [, path] = /^0::(.*)$/m.exec(cgroup) ?? [];
  if (mount === undefined || path === undefined) return undefined;
  const folder = join(mount, below(path, root));
  return basename(folder) === SERVICE_GROUP ? dirname(folder) : folder;
}

// In a container the mount shows a part of the tree only.
function below(path: string, root: string): string {
  if (root === "/" || !path.startsWith(root)) return path;
  return path.slice(root.length);
}

async function offeredTo(folder: string): Promise<Controller[]> {
  const offered = (await readFile(join(folder, "cgroup.controllers"), "utf8")).trim().split(/\s+/);
  const controllers = CONTROLLERS.filter((name) => offered.includes(name));
  await handDown(folder, controllers).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EBUSY" || !(await isDelegated(folder))) throw error;
    await makeWay(folder);
    await handDown(folder, controllers);
  });
  return controllers;
}

/** Tells whether the group holds the service alone: delegated to its user, or, as root, the group of a systemd unit. */
async function isDelegated(folder: string): Promise<boolean> {
  const { uid } = await stat(folder);
  return uid === process.getuid?.() && (uid !== 0 || folder.endsWith(".service"));
}

/** Controllers are handed down only from groups without processes: those in this one move into one below it. */
export async function makeWay(folder: string): Promise<void> {
  const below = join(folder, SERVICE_GROUP);
  await mkdir(below, { recursive: true });
  for (let round = 0; round < MOVE_ROUNDS; round += 1) {
    const pids = (await readFile(join(folder, "cgroup.procs"), "utf8")).split("\n").filter(Boolean);
    if (pids.length === 0) return;
    for (const pid of pids)
      await writeFile(join(below, "cgroup.procs"), pid).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ESRCH") throw error; // it has ended
      });
  }
}

async function handDown(folder: string, controllers: Controller[]): Promise<void> {
  const text = controllers.map((name) => `+${name}`).join(" ");
  await writeFile(join(folder, "cgroup.subtree_control"), text);
}
