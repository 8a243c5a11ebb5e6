import Docker from "dockerode";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until, within } from "./wait.ts";

/** A container engine for one test, with its own storage, network, socket and settings, which the test removes. */
export interface ContainerEngine extends AsyncDisposable {
  name: "podman" | "docker";
  socket: string;
  /** A network of the engine that no other test is in. */
  network: string;
  /** For a service whose bots are to be in it. */
  settings: Record<string, string>;
  docker: Docker;
  /** Its process. */
  readonly pid: number;
  /** Dies at once; what runs in it goes on where the engine can do that. */
  kill(): Promise<void>;
  /** Again, over what is there. */
  start(): Promise<void>;
}

const START_MS = 20_000;
const SPEED_MS = 10_000;

/** Podman, or Docker where `VOCALHOST_TEST_ENGINE` says so. Fails where there is none: nothing is skipped. */
export async function startContainerEngine(
  options: {
    /** `host:port` of those without TLS. */
    registries?: string[];
    /** Put before its command, to run it in another network. */
    within?: readonly string[];
  } = {},
): Promise<ContainerEngine> {
  const { registries = [], within: prefix = [] } = options;
  const name = process.env["VOCALHOST_TEST_ENGINE"] === "docker" ? "docker" : "podman";
  if (process.getuid?.() !== 0)
    throw new Error("These tests start a container engine of their own, which needs root");
  const folder = mkdtempSync(join(tmpdir(), "engine-"));
  const number = randomInt(1, 65_536);
  const network = `vocalhost-test-${number}`;
  const bridge = `vt${number}`;
  const socket = join(folder, "engine.sock");
  const docker = new Docker({ socketPath: socket, timeout: 60_000 });
  const log = join(folder, "engine.log");
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const output = openSync(log, "a");
    const { program, args, environment } =
      name === "podman" ? podman(folder, socket, registries) : dockerd(folder, socket, number);
    const [command, ...before] = [...prefix, program];
    child = spawn(command, [...before, ...args], {
      cwd: folder, // what watches over a container leaves a file where it was started when memory runs out
      stdio: ["ignore", output, output],
      detached: true,
      env: { ...process.env, ...environment },
    });
    child.once("error", () => undefined);
    await until(
      async () => {
        if (child?.pid === undefined || child.exitCode !== null)
          throw new Error(`${program} did not start:\n${readFileSync(log, "utf8").slice(-2_000)}`);
        return docker.ping().then(
          () => true,
          () => false,
        );
      },
      START_MS,
      "container engine",
    );
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await within(exited, SPEED_MS, "end of the engine").catch(() => child?.kill("SIGKILL"));
  }

  await using stack = new AsyncDisposableStack();
  stack.defer(() => removeFolder(folder));
  stack.defer(() => void spawnSync("ip", ["link", "delete", bridge]));
  stack.defer(
    () => void spawnSync("nft", ["delete", "table", "inet", `vocalhost_${network.replace(/\W/g, "_")}`]),
  );
  stack.defer(() => rmSync(`/var/lib/cni/networks/${network}`, { recursive: true, force: true }));
  stack.defer(() => end("SIGTERM"));
  await start();
  stack.defer(() => removeNetworks(docker));
  stack.defer(() => removeContainers(docker));
  await docker.createNetwork({
    Name: network,
    Driver: "bridge",
    IPAM: { Config: [{ Subnet: `10.${200 + (number >> 11)}.${(number >> 3) & 255}.0/24` }] },
    Options: { "com.docker.network.bridge.name": bridge },
  });
  const owned = stack.move();
  return {
    name,
    socket,
    network,
    settings: {
      VOCALHOST_DRIVER: "container",
      VOCALHOST_CONTAINER_ENGINE: `unix://${socket}`,
      VOCALHOST_CONTAINER_NETWORK: network,
      VOCALHOST_REGISTRIES: "localhost",
    },
    docker,
    get pid() {
      return child?.pid ?? 0;
    },
    async kill() {
      await end("SIGKILL");
      if (name === "docker") endContainerd(folder);
    },
    start,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Launch {
  program: string;
  args: string[];
  environment: Record<string, string>;
}

function podman(folder: string, socket: string, registries: string[]): Launch {
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  return {
    program: requireProgram("podman", "podman runc"),
    args: ["system", "service", "--time", "0", `unix://${socket}`],
    environment: {
      TMPDIR: folder,
      CONTAINERS_CONF: write(
        "containers.conf",
        [
          "[containers]",
          // Its own defaults raise limits, which not every root may.
          'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]',
          "default_sysctls = []",
          "[network]",
          `network_config_dir = "${folder}/networks"`,
          "[engine]",
          'runtime = "runc"', // crun refuses machines with both kinds of control groups
          'cgroup_manager = "cgroupfs"',
          'events_logger = "file"',
          `tmp_dir = "${folder}/tmp"`,
          `volume_path = "${folder}/volumes"`,
        ].join("\n"),
      ),
      CONTAINERS_STORAGE_CONF: write(
        "storage.conf",
        [
          "[storage]",
          'driver = "overlay"',
          `graphroot = "${folder}/graph"`,
          `runroot = "${folder}/run"`,
        ].join("\n"),
      ),
      CONTAINERS_REGISTRIES_CONF: write(
        "registries.conf",
        [
          "unqualified-search-registries = []",
          ...registries.flatMap((host) => ["[[registry]]", `location = "${host}"`, "insecure = true"]),
        ].join("\n"),
      ),
    },
  };
}

function dockerd(folder: string, socket: string, number: number): Launch {
  requireProgram("containerd", "docker.io");
  writeFileSync(join(folder, "daemon.json"), JSON.stringify({ "live-restore": true }));
  return {
    program: requireProgram("dockerd", "docker.io"),
    args: [
      ...["--config-file", join(folder, "daemon.json")],
      ...["--host", `unix://${socket}`, "--pidfile", join(folder, "docker.pid")],
      ...["--data-root", join(folder, "data"), "--exec-root", join(folder, "exec")],
      // Not every root may lower the score of another process.
      ...["--exec-opt", "native.cgroupdriver=cgroupfs", "--oom-score-adjust", "0"],
      ...["--bridge", "none", "--default-address-pool", `base=10.${200 + (number >> 11)}.0.0/16,size=24`],
      ...["--insecure-registry", "127.0.0.0/8"],
    ],
    environment: {},
  };
}

/** Docker's other half dies with it. Where nobody collects the dead, the next one would wait for it. */
function endContainerd(folder: string): void {
  const file = join(folder, "exec/containerd/containerd.pid");
  if (!existsSync(file)) return;
  try {
    process.kill(Number(readFileSync(file, "utf8")), "SIGKILL");
  } catch {
    // it is gone
  }
  rmSync(file);
  rmSync(join(folder, "docker.pid"), { force: true });
}

function requireProgram(program: string, packages: string): string {
  const found = ["/usr/bin", "/usr/sbin", "/usr/local/bin"].find((path) => existsSync(join(path, program)));
  if (found !== undefined) return join(found, program);
  throw new Error(`These tests need ${program}. Install it: apt-get install ${packages}`);
}

/** Podman names the bridge of a network itself, and takes it away only with the network. */
async function removeNetworks(docker: Docker): Promise<void> {
  const networks = await docker.listNetworks().catch(() => []);
  for (const { Name } of networks)
    if (Name.startsWith("vocalhost"))
      await docker
        .getNetwork(Name)
        .remove()
        .catch(() => undefined);
}

async function removeContainers(docker: Docker): Promise<void> {
  const all = await docker.listContainers({ all: true }).catch(() => []);
  await Promise.allSettled(all.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })));
}

function removeFolder(folder: string): void {
  // Engines mount inside of their storage, and mounts survive them.
  const mounts = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((path) => path.startsWith(`${folder}/`))
    .toReversed();
  for (const path of mounts) spawnSync("umount", ["-l", path]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
