import { mkdir, readFile, rmdir, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export type Controller = "cpu" | "memory" | "pids";

/** A tree of control groups in which we may make our own. */
export interface Hierarchy {
  version: 1 | 2;
  controllers: Controller[];
  /** Ours, below the group we run in: what holds for us holds for everything in it. */
  folder: string;
}

/** Makes our folder in it, there only while there is something in it. */
export async function makeOurs({ version, controllers, folder }: Hierarchy): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (version === 2) await handDown(folder, controllers);
}

/** Where the service itself is, in a group of version 2 that was delegated to it. */
const SERVICE_GROUP = "vocalhost-service";
const MOVE_ROUNDS = 5; // a process may start another while we move it

const CONTROLLERS: readonly Controller[] = ["cpu", "memory", "pids"];

/** Everything usable, with our own folder in each; none is no mistake but a machine that does not let us. */
export async function findHierarchies(name: string): Promise<Hierarchy[]> {
  const [mounts, groups] = await Promise.all([
    readFile("/proc/self/mountinfo", "utf8").catch(() => ""),
    readFile("/proc/self/cgroup", "utf8").catch(() => ""),
  ]);
  const usable: Hierarchy[] = [];
  for (const candidate of parseHierarchies(mounts, groups)) {
    const wanted = candidate.controllers.filter(
      (controller) => !usable.some(({ controllers }) => controllers.includes(controller)),
    );
    const hierarchy = await prepare({ ...candidate, controllers: wanted }, name);
    if (hierarchy) usable.push(hierarchy);
  }
  return usable;
}

/** Where the groups of this process are, `folder` being its own group's. */
export function parseHierarchies(mountinfo: string, cgroup: string): Hierarchy[] {
  const groups = cgroup
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(":"))
    .map(([, names = "", ...path]) => ({ names: names.split(","), path: path.join(":") }));
  return mountinfo.split("\n").flatMap((line) => {
    const match = /^\S+ \S+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line);
    if (!match) return [];
    const [, root = "/", mount = "", type, settings = ""] = match;
    const version = type === "cgroup2" ? 2 : 1;
    const options = settings.split(",");
    const controllers =
      version === 2 ? [...CONTROLLERS] : CONTROLLERS.filter((name) => options.includes(name));
    const group = groups.find(({ names }) =>
      version === 2 ? names[0] === "" : controllers.some((name) => names.includes(name)),
    );
    if (!group || controllers.length === 0) return [];
    const folder = join(mount, below(group.path, root));
    const isOurs = version === 2 && basename(folder) === SERVICE_GROUP;
    return [{ version, controllers, folder: isOurs ? dirname(folder) : folder } satisfies Hierarchy];
  });
}

// In a container the mount shows a part of the tree only.
function below(path: string, root: string): string {
  if (root === "/" || !path.startsWith(root)) return path;
  return path.slice(root.length);
}

async function prepare(candidate: Hierarchy, name: string): Promise<Hierarchy | undefined> {
  const folder = join(candidate.folder, name);
  try {
    const controllers = candidate.version === 2 ? await offeredTo(candidate) : candidate.controllers;
    if (controllers.length === 0) return undefined;
    const ours = { ...candidate, controllers, folder };
    await makeOurs(ours);
    await rmdir(folder).catch(() => undefined); // unless there is something in it
    return ours;
  } catch {
    return undefined; // not root, or not ours to change
  }
}

async function offeredTo(candidate: Hierarchy): Promise<Controller[]> {
  const { folder } = candidate;
  const offered = (await readFile(join(folder, "cgroup.controllers"), "utf8")).trim().split(/\s+/);
  const controllers = candidate.controllers.filter((name) => offered.includes(name));
  if (controllers.length === 0) return controllers;
  await handDown(folder, controllers).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "EBUSY" || !(await isDelegated(folder))) throw error;
    await makeWay(folder);
    await handDown(folder, controllers);
  });
  return controllers;
}

/** Whether the group is ours alone: given to our user, or, as root, the one of a unit of systemd. */
async function isDelegated(folder: string): Promise<boolean> {
  const { uid } = await stat(folder);
  return uid === process.getuid?.() && (uid !== 0 || folder.endsWith(".service"));
}

/** Version 2 hands controllers down only from groups without processes: those in this one move into one below it. */
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
