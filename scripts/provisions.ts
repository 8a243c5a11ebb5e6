// What the tests need besides npm's packages: the pages, a browser, a database, a clock that can be set, a TURN server, a
// registry of images, a container engine, the base image, and what the pages' commands use.
import { execFile, spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const INSTALL = ["install", "-y", "-qq", "--no-install-recommends"];

/** What takes long and only a few tests need, under way while the others run. */
export interface UnderWay {
  baseImage: Promise<void>;
}

/** Builds and installs what is missing, or says what to install. */
export function provide(): UnderWay {
  run(process.execPath, ["scripts/build.ts", "--no-check"]);
  ensureChromium();
  ensurePostgres();
  ensureFakeTime();
  ensureCoturn();
  ensureReaders();
  ensureRegistry();
  ensureEngine();
  return { baseImage: ensureBaseImage() };
}

/** Its headless shell takes half the processor time of the whole browser; any of them will do. */
function ensureChromium(): void {
  if (process.env["CHROMIUM_PATH"] || isInPath("chromium-headless-shell")) return;
  const hasBrowser = ["chromium", "chromium-browser", "google-chrome"].some(isInPath);
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    if (hasBrowser) return;
    console.error("The browser tests need Chromium. Install it, or set CHROMIUM_PATH to its program file.");
    process.exit(1);
  }
  console.log("Installing Chromium with apt-get …");
  run("apt-get", ["update", "-qq"]);
  const shell = spawnSync("apt-get", [...INSTALL, "chromium-headless-shell", "fonts-liberation"]);
  if (shell.status !== 0 && !hasBrowser) run("apt-get", [...INSTALL, "chromium"]); // older distributions have no shell
}

function isInPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}

function ensurePostgres(): void {
  const folders = [
    "/usr/local/bin",
    "/usr/bin",
    "/opt/homebrew/bin",
    ...globSync("/usr/lib/postgresql/*/bin"),
  ];
  if (folders.some((folder) => existsSync(join(folder, "initdb")))) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    console.error("The store's tests need PostgreSQL (initdb, pg_ctl, createdb). Install it.");
    process.exit(1);
  }
  console.log("Installing PostgreSQL with apt-get …");
  run("apt-get", ["update", "-qq"]);
  run("apt-get", [...INSTALL, "postgresql"]);
}

/** Without it the tests of a clock that is set are skipped. */
function ensureFakeTime(): void {
  if (globSync("/usr/lib/*/faketime/libfaketimeMT.so.1").length > 0) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  console.log("Installing libfaketime with apt-get …");
  run("apt-get", ["update", "-qq"]);
  run("apt-get", [...INSTALL, "libfaketime"]);
}

/** Without it the test of calls through TURN is skipped, or fails in CI. */
function ensureCoturn(): void {
  if (["turnserver", "ip"].every(isInPath)) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  console.log("Installing coturn with apt-get …");
  run("apt-get", ["update", "-qq"]);
  run("apt-get", [...INSTALL, "coturn", "iproute2"]);
}

/** What the pages' commands use, and who reads the settings of other programs in them. */
function ensureReaders(): void {
  const programs = ["jq", "curl", "caddy", "nft"];
  if (programs.every(isInPath) && existsSync("/usr/sbin/nginx")) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    if (isInPath("jq") && isInPath("curl")) return;
    console.error("The walk through the pages needs jq and curl. Install them.");
    process.exit(1);
  }
  console.log("Installing what the pages use with apt-get …");
  run("apt-get", ["update", "-qq"]);
  run("apt-get", [...INSTALL, "jq", "curl", "caddy", "nginx-light", "nftables", "openssl"]);
}

/** The registry that images are pushed to, and a program that is not ours to read them back. */
function ensureRegistry(): void {
  if (isInPath("docker-registry") && isInPath("skopeo")) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    console.error("The tests of images need docker-registry and skopeo. Install them.");
    process.exit(1);
  }
  console.log("Installing docker-registry and skopeo with apt-get …");
  run("apt-get", ["update", "-qq"]);
  run("apt-get", [...INSTALL, "docker-registry", "skopeo"]);
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

/** The tests start it themselves. Docker instead, where `VOCALHOST_TEST_ENGINE` says so. */
function ensureEngine(): void {
  const isDocker = process.env["VOCALHOST_TEST_ENGINE"] === "docker";
  const [programs, packages] = isDocker
    ? [
        ["dockerd", "containerd", "nft"],
        ["docker.io", "iptables", "nftables"],
      ]
    : [
        ["podman", "runc", "nft"],
        ["podman", "runc", "containernetworking-plugins", "iptables", "nftables"],
      ];
  if (programs.every(isInPath)) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    console.error(
      `The tests of the container driver need ${programs.join(" and ")}, and root. Install them.`,
    );
    process.exit(1);
  }
  console.log("Installing a container engine with apt-get …");
  run("apt-get", ["update", "-qq"]);
  run("apt-get", [...INSTALL, ...packages]);
}

function run(command: string, args: string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (stdout && command === process.execPath) process.stdout.write(stdout);
  if (status === 0) return;
  console.error(`${command} ${args.join(" ")} failed:\n${stdout}\n${stderr}`);
  process.exit(1);
}
