// What the tests need besides npm's packages: the pages, a browser, a database, a clock that can be set, a TURN server, a
// registry of images, a container engine, the base image, and what the pages' commands use.
import { execFile, spawn, spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const INSTALL = ["install", "-y", "-qq", "--no-install-recommends"];
const READERS = ["jq", "curl", "caddy", "nft", "nginx"]; // what the pages' commands use

/** Something the tests use that npm does not have. */
interface Need {
  what: string;
  isThere: boolean;
  /** Asked for once the lists of packages are read. */
  packages: () => string[];
  /** Said where it cannot be installed from here; without it the tests that need it are skipped, or fail in CI. */
  otherwise?: string;
}

/** Builds and installs what is missing, or says what to install. The pages need no packages of the suites, the rest may. */
export async function provide(options: { withEngine: boolean; installed: Promise<void> }): Promise<void> {
  const { withEngine, installed } = options;
  const pages = ["client-page", "dashboard"].map((page) =>
    run(process.execPath, [`scripts/build-${page}.ts`]),
  );
  const built = Promise.all([installed, ...pages]).then(() =>
    run(process.execPath, ["scripts/build.ts", "--no-check"]),
  );
  await installMissing([...needs(), ...(withEngine ? [engine()] : [])]);
  await built;
  if (withEngine) await ensureBaseImage();
}

/** All at once: reading the lists of packages takes longer than most of them. */
async function installMissing(wanted: Need[]): Promise<void> {
  const missing = wanted.filter(({ isThere }) => !isThere);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    const sentences = missing.flatMap(({ otherwise }) => otherwise ?? []);
    for (const sentence of sentences) console.error(sentence);
    if (sentences.length > 0) process.exit(1);
    return;
  }
  console.log(`Installing ${missing.map(({ what }) => what).join(", ")} with apt-get …`);
  await run("apt-get", ["update", "-qq"]);
  await run("apt-get", [...INSTALL, ...missing.flatMap(({ packages }) => packages())]);
}

function needs(): Need[] {
  return [
    chromium(),
    {
      what: "PostgreSQL",
      isThere: [
        "/usr/local/bin",
        "/usr/bin",
        "/opt/homebrew/bin",
        ...globSync("/usr/lib/postgresql/*/bin"),
      ].some((folder) => existsSync(join(folder, "initdb"))),
      packages: () => ["postgresql"],
      otherwise: "The store's tests need PostgreSQL (initdb, pg_ctl, createdb). Install it.",
    },
    {
      what: "libfaketime",
      isThere: globSync("/usr/lib/*/faketime/libfaketimeMT.so.1").length > 0,
      packages: () => ["libfaketime"],
    },
    { what: "coturn", isThere: ["turnserver", "ip"].every(isInPath), packages: () => ["coturn", "iproute2"] },
    {
      what: "what the pages use",
      isThere: READERS.every(isInPath),
      packages: () => ["jq", "curl", "caddy", "nginx-light", "nftables", "openssl"],
      ...(["jq", "curl"].every(isInPath)
        ? {}
        : { otherwise: "The walk through the pages needs jq and curl. Install them." }),
    },
    {
      what: "docker-registry and skopeo",
      isThere: ["docker-registry", "skopeo"].every(isInPath),
      packages: () => ["docker-registry", "skopeo"],
      otherwise: "The tests of images need docker-registry and skopeo. Install them.",
    },
  ];
}

/** Its headless shell takes half the processor time of the whole browser, but older distributions have none; any will do. */
function chromium(): Need {
  const hasBrowser = ["chromium", "chromium-browser", "google-chrome"].some(isInPath);
  return {
    what: "Chromium",
    isThere: Boolean(process.env["CHROMIUM_PATH"]) || isInPath("chromium-headless-shell"),
    packages: () => {
      if (isPackage("chromium-headless-shell")) return ["chromium-headless-shell", "fonts-liberation"];
      return hasBrowser ? [] : ["chromium"];
    },
    ...(hasBrowser
      ? {}
      : {
          otherwise: "The browser tests need Chromium. Install it, or set CHROMIUM_PATH to its program file.",
        }),
  };
}

function isPackage(name: string): boolean {
  return spawnSync("apt-cache", ["show", name]).status === 0;
}

/** The tests start it themselves. Docker instead, where `VOCALHOST_TEST_ENGINE` says so. */
function engine(): Need {
  const isDocker = process.env["VOCALHOST_TEST_ENGINE"] === "docker";
  const programs = isDocker ? ["dockerd", "containerd", "nft"] : ["podman", "runc", "nft"];
  return {
    what: "a container engine",
    isThere: programs.every(isInPath),
    packages: () =>
      isDocker
        ? ["docker.io", "iptables", "nftables"]
        : ["podman", "runc", "containernetworking-plugins", "iptables", "nftables"],
    otherwise: `The tests of the container driver need ${programs.join(" and ")}, and root. Install them.`,
  };
}

/** Made once from the same sources. Where it cannot be, the tests that need it say so, and all others can still run. */
async function ensureBaseImage(): Promise<void> {
  if (!existsSync("/usr/bin/apt-get")) return;
  const maker = ["--conditions=@vocalhost/source", "scripts/build-base-image.ts"];
  await promisify(execFile)(process.execPath, maker).then(
    ({ stdout }) => void process.stdout.write(stdout),
    ({ stderr }: { stderr: string }) => console.error(`The base image could not be made:\n${stderr}`),
  );
}

function isInPath(program: string): boolean {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  return folders.some((folder) => existsSync(join(folder, program)));
}

async function run(command: string, args: string[]): Promise<void> {
  const isOurs = command === process.execPath;
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stdout.on("data", (text: string) => void (isOurs && process.stdout.write(text)));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code === 0) return;
  console.error(`${command} ${args.join(" ")} failed:\n${output}`);
  process.exit(1);
}
