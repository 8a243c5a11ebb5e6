import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { folderEntries } from "../layers/folder-entries.ts";
import type { LayerEntry } from "../layers/layer-entry.ts";
import type { Platform } from "../platform.ts";
import type { BuildFolder } from "../build-folder.ts";
import { baseUser, inLayer } from "./base-places.ts";
import { DEBIAN_PACKAGES, isWantedOfDebian } from "./contents.ts";
import { BuildProblem } from "../run-program.ts";

/** A minimal Debian as entries of a layer, and what it is made of. */
export interface DebianRoot {
  entries: LayerEntry[];
  packages: DebianPackage[];
}

export interface DebianPackage {
  name: string;
  version: string;
  architecture: string;
}

const ROOT = { uid: 0, gid: 0 } as const;
const DOWNLOAD_MS = 300_000;
const UNPACK_MS = 60_000;
const MERGED = ["bin", "lib", "lib64", "sbin"]; // since Debian 12 these are links into usr

/** Needs apt-get and dpkg-deb, but neither root nor the same processor. */
export async function makeDebianRoot(buildFolder: BuildFolder, platform: Platform): Promise<DebianRoot> {
  await requireDebian();
  const folder = join(buildFolder.folder, `debian-${platform.architecture}`);
  const archives = await download(buildFolder, folder, platform);
  const unpacked = join(folder, "unpacked");
  await rm(unpacked, { recursive: true, force: true });
  const entries = new Map<string, LayerEntry>();
  const packages: DebianPackage[] = [];
  for (const archive of archives) {
    const place = join(unpacked, archive);
    await mkdir(place, { recursive: true });
    const run = (...args: string[]): Promise<string> =>
      buildFolder.run("dpkg-deb", args, { purpose: "to unpack Debian's packages", timeoutMs: UNPACK_MS });
    await run("--extract", join(folder, "archives", archive), place);
    const control = await run("--field", join(folder, "archives", archive));
    const facts = readControl(control);
    packages.push(facts);
    for (const entry of await folderEntries({ folder: place, at: "", ...ROOT })) {
      const path = entry.path.replace(/^(bin|lib|lib64|sbin)(?=\/|$)/, "usr/$1");
      if (isWantedOfDebian(path)) entries.set(path, { ...entry, path });
    }
    // Scanners look there for the packages of images without a package manager.
    const status = `var/lib/dpkg/status.d/${facts.name}`;
    entries.set(status, { kind: "file", path: status, source: Buffer.from(control), mode: 0o644, ...ROOT });
  }
  for (const entry of await ownFiles(unpacked, archives))
    if (!MERGED.includes(entry.path) || entries.has(`usr/${entry.path}`)) entries.set(entry.path, entry);
  return {
    entries: [...entries.values()],
    packages: packages.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

async function requireDebian(): Promise<void> {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  if (/^ID=debian$/m.test(release) && /^VERSION_ID="12"$/m.test(release) && existsSync("/usr/bin/apt-get"))
    return;
  throw new BuildProblem(
    "The base image is made of the packages of Debian 12, and this machine has none to download them with; make it on a machine or in a container with Debian 12, or with an engine from images/base/Dockerfile",
  );
}

/** Into a folder of its own, with package lists of its own: the machine's are for its own processor. */
async function download(
  buildFolder: BuildFolder,
  folder: string,
  { architecture }: Platform,
): Promise<string[]> {
  const archives = join(folder, "archives");
  for (const name of ["state/lists/partial", "cache/archives/partial"])
    await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, "status"), "");
  const settings = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    `Dir::State=${join(folder, "state")}`,
    `Dir::State::status=${join(folder, "status")}`,
    `Dir::Cache=${join(folder, "cache")}`,
    "APT::Sandbox::User=root",
    "Acquire::Languages=none",
    "Acquire::Retries=3",
  ].flatMap((setting) => ["-o", setting]);
  const apt = (...args: string[]): Promise<string> =>
    buildFolder.run("apt-get", ["-qq", ...settings, ...args], {
      purpose: "to download Debian's packages",
      cwd: archives,
      timeoutMs: DOWNLOAD_MS,
    });
  await rm(archives, { recursive: true, force: true });
  await mkdir(archives, { recursive: true });
  await apt("update");
  await apt("download", ...DEBIAN_PACKAGES);
  return (await readdir(archives)).toSorted();
}

/** Makes what the packages' scripts would make, and the user that bots run as. */
async function ownFiles(unpacked: string, archives: readonly string[]): Promise<LayerEntry[]> {
  const { name, uid, gid, home } = baseUser;
  const read = async (of: string, path: string): Promise<string> =>
    readFile(join(unpacked, archives.find((archive) => archive.startsWith(`${of}_`)) ?? "", path), "utf8");
  const passwd = await read("base-passwd", "usr/share/base-passwd/passwd.master");
  const group = await read("base-passwd", "usr/share/base-passwd/group.master");
  const certificates = join(unpacked, archives.find((one) => one.startsWith("ca-certificates_")) ?? "");
  const text = (path: string, content: string): LayerEntry => ({
    kind: "file",
    path,
    source: Buffer.from(content),
    mode: 0o644,
    ...ROOT,
  });
  const link = (path: string, target: string): LayerEntry => ({
    kind: "symlink",
    path,
    target,
    mode: 0o777,
    ...ROOT,
  });
  const directory = (path: string, mode: number, owner: { uid: number; gid: number } = ROOT): LayerEntry => ({
    kind: "directory",
    path,
    mode,
    uid: owner.uid,
    gid: owner.gid,
  });
  return [
    ...MERGED.map((path) => link(path, `usr/${path}`)),
    text("etc/passwd", `${passwd.replaceAll("*", "x")}${name}:x:${uid}:${gid}::${home}:/usr/sbin/nologin\n`),
    text("etc/group", `${group.replaceAll("*", "x")}${name}:x:${gid}:\n`),
    text("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    text("etc/ssl/certs/ca-certificates.crt", await bundle(join(certificates, "usr/share/ca-certificates"))),
    ...["var/lib/dpkg", "var/lib/dpkg/status.d"].map((path) => directory(path, 0o755)),
    directory("home", 0o755),
    directory(inLayer(home), 0o700, baseUser),
    directory("tmp", 0o1777),
    directory("var/tmp", 0o1777),
    directory("root", 0o700),
    link("usr/bin/sh", "dash"),
  ];
}

async function bundle(folder: string): Promise<string> {
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith(".crt"))
    .toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return texts.map((text) => `${text.trim()}\n`).join("");
}

function readControl(control: string): DebianPackage {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(control)?.[1] ?? "";
  return { name: field("Package"), version: field("Version"), architecture: field("Architecture") };
}
